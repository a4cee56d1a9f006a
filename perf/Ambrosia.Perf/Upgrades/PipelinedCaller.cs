using System.Diagnostics;
using Ambrosia.Client;

namespace Ambrosia.Perf;

/// <summary>A caller outside with so many calls under way at a time, who makes the next one with each answer: it is a throughput.</summary>
internal sealed class PipelinedCaller(ClusterOptions options, string instance, int messageBytes, int underWay) : IDisposable
{
    private readonly ImmortalClient _client = SteadyCaller.Connect(options, instance);
    private long _left;

    /// <summary>Calls for so long; returns the calls that were answered in a second.</summary>
    public double Run(TimeSpan time)
    {
        long begun = Stopwatch.GetTimestamp();
        long answered = Run(() => Stopwatch.GetElapsedTime(begun) < time);
        return answered / Stopwatch.GetElapsedTime(begun).TotalSeconds;
    }

    /// <summary>Makes so many calls.</summary>
    public void Run(long calls)
    {
        _left = calls;
        Run(() => Interlocked.Decrement(ref _left) >= 0);
    }

    private long Run(Func<bool> goesOn)
    {
        long[] answered = Task.WhenAll(Enumerable.Range(0, underWay).Select(_ => Call(goesOn))).GetAwaiter().GetResult();
        return answered.Sum();
    }

    private async Task<long> Call(Func<bool> goesOn)
    {
        ClientProxy<IBooks> books = _client.GetProxy<IBooks>();
        byte[] message = new byte[messageBytes];
        long answered = 0;
        for (; goesOn(); answered++)
        {
            options.Stop.ThrowIfCancellationRequested();
            await books.NoteAsync(message).WaitAsync(options.Limit).ConfigureAwait(false);
        }
        return answered;
    }

    public void Dispose() => _client.Dispose();
}
