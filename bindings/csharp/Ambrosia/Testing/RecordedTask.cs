using System.Buffers;
using Ambrosia.Calls;
using Ambrosia.Failures;
using Ambrosia.Protocol.Records;
using Ambrosia.Tasks;

namespace Ambrosia;

/// <summary>
/// A NondetTask that an immortal began in a unit test. Its body does not run by itself: the test gives its result, or runs the body once.
/// </summary>
public sealed class RecordedTask
{
    private readonly OutstandingTasks _tasks;
    private readonly Scheduler _scheduler;
    private readonly IPendingTask _task;
    private readonly IServiceProvider? _services;

    internal RecordedTask(OutstandingTasks tasks, Scheduler scheduler, IPendingTask task, IServiceProvider? services)
    {
        _tasks = tasks;
        _scheduler = scheduler;
        _task = task;
        _services = services;
    }

    /// <summary>The options with which the task was begun.</summary>
    public NondetOptions Options => _task.Options;

    /// <summary>True while it has no result.</summary>
    public bool IsAwaited => !_task.Source.IsDone;

    /// <summary>Gives the result of a task that has none, and lets the handler go on.</summary>
    /// <exception cref="InvalidOperationException">It has a result already.</exception>
    public void Answer() => Answer(default(Nothing));

    /// <summary>Gives the result, as if the body had returned it, and lets the handler go on.</summary>
    /// <exception cref="InvalidOperationException">It has a result already.</exception>
    /// <exception cref="ArgumentException">The task's result is of another type.</exception>
    public void Answer<T>(T value)
    {
        if (_task is not PendingTask<T>)
            throw new ArgumentException($"The task does not return a {typeof(T).Name}: give a value of exactly its type.", nameof(value));
        var encoded = new ArrayBufferWriter<byte>();
        ValueImage.Write(encoded, value);
        Take(failed: false, encoded.WrittenMemory);
    }

    /// <summary>Fails the task, as if its last attempt had thrown this exception.</summary>
    /// <exception cref="InvalidOperationException">It has a result already.</exception>
    public void Fail(Exception failure)
    {
        ArgumentNullException.ThrowIfNull(failure);
        var encoded = new ArrayBufferWriter<byte>();
        FailureCodec.Write(encoded, failure);
        Take(failed: true, encoded.WrittenMemory);
    }

    /// <summary>Runs the body once, with <see cref="TestSession.Services"/>, and takes what it returns or throws as the result.</summary>
    /// <exception cref="InvalidOperationException">It has a result already.</exception>
    public async Task RunAsync()
    {
        if (!IsAwaited) throw Answered();
        byte[] result;
        try
        {
            HostServices? services = _services is null ? null : new HostServices(_services, () => _services, null);
            var context = new NondetContext($"test/{_task.Number}", 1, CancellationToken.None) { Scope = new TaskScope(services) };
            result = await _task.RunBody(context).ConfigureAwait(false);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            Fail(e);
            return;
        }
        Take(failed: false, result);
    }

    private void Take(bool failed, ReadOnlyMemory<byte> result)
    {
        if (!IsAwaited) throw Answered();
        _scheduler.EnterTest();
        _tasks.Take(new NondetResultRecord(_task.Number, failed, result));
        _scheduler.Drain();
    }

    private InvalidOperationException Answered() => new($"Task {_task.Number} has its result already.");
}
