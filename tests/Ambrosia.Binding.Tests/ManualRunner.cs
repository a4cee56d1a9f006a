using Ambrosia.Tasks;
using Ambrosia.TestKit;

namespace Ambrosia.Binding.Tests;

/// <summary>Keeps the bodies of tasks until a test says which of them runs now, on the test's own thread.</summary>
internal sealed class ManualRunner : ITaskRunner
{
    private readonly Queue<Func<Task>> _started = new();

    public FakeTime Clock { get; } = new();

    /// <summary>Its time, µs since 1970.</summary>
    public long Micros => (Clock.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;

    TimeProvider ITaskRunner.Time => Clock;

    /// <summary>The services that bodies get; null: none.</summary>
    public HostServices? Services { get; set; }

    /// <summary>Bodies that were started and have not run.</summary>
    public int Waiting => _started.Count;

    void ITaskRunner.Start(Func<Task> work) => _started.Enqueue(work);

    /// <summary>Runs the oldest until it ends, or waits for something.</summary>
    public Task RunNext() => _started.Dequeue()();

    /// <summary>
    /// Waits until a body pauses; for how long it will. A deadline is a timer, too: where there is one, pauses are shorter than
    /// <paramref name="deadline"/>.
    /// </summary>
    public async Task<TimeSpan> NextPause(TimeSpan? deadline = null)
    {
        long begun = Environment.TickCount64;
        while (true)
        {
            if (Clock.UntilNextTimer is { } pause && !(pause >= deadline)) return pause; // read once: the body goes on meanwhile
            Assert.True(Environment.TickCount64 - begun < 30_000, "no body pauses");
            await Task.Yield();
        }
    }

    public void RunAll()
    {
        while (_started.Count > 0) Assert.True(RunNext().IsCompletedSuccessfully);
    }
}
