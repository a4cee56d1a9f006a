using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>Threads that use a given share of the processors, until this ends.</summary>
internal sealed class OtherWork : IDisposable
{
    private const double SliceMs = 10;

    private readonly Thread[] _threads;
    private volatile bool _isOver;

    /// <param name="cores">So many seconds of processor time in a second.</param>
    public OtherWork(double cores)
    {
        int threads = Math.Max(1, (int)Math.Ceiling(cores));
        _threads = [.. Enumerable.Range(0, threads).Select(i => new Thread(() => Work(cores / threads)) { IsBackground = true })];
        foreach (Thread each in _threads) each.Start();
    }

    private void Work(double share)
    {
        double owed = 0;
        while (!_isOver)
        {
            long begun = Stopwatch.GetTimestamp();
            owed += SliceMs * share;
            double used = ThreadTime();
            while (ThreadTime() - used < owed && !_isOver) { }
            owed -= ThreadTime() - used;
            double rest = SliceMs - Stopwatch.GetElapsedTime(begun).TotalMilliseconds;
            if (rest >= 1) Thread.Sleep((int)rest);
            else owed += Math.Max(0, -rest) * share; // it has waited for a core itself
        }
    }

    private static double ThreadTime() => ProcessorTime.OfThisThread() * 1_000;

    public void Dispose()
    {
        _isOver = true;
        foreach (Thread each in _threads) each.Join();
    }
}
