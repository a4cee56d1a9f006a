// Impulses at a steady pace beside a stream, and how long each took from the moment at which it was to be sent to its handler. The thread
// that sends is behind by what the machine makes it wait; that counts too, for the next moment is fixed before. Bound: those under way at
// most; when the log is further behind than that, the thread waits, and the wait counts.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>
/// The impulses of <c>stream --impulse</c>. At its stop it prints <c>ticks SENT</c> and, when the last one is handled, <c>ticked
/// HANDLED</c> and a histogram line.
/// </summary>
internal sealed class Ticker(Action<long> send)
{
    private const int UnderWayMax = 10_000;

    private readonly LatencyHistogram latencies = new(); // of the thread that runs handlers
    private long sent, handled, wanted = -1;
    private volatile bool stopped;

    public void Start(TimeSpan every)
    {
        stopped = false;
        new Thread(() => Run(every)) { IsBackground = true, Name = "ticker" }.Start();
    }

    public void Stop() => stopped = true;

    /// <summary>A tick's handler; <paramref name="at"/> is when it was to be sent.</summary>
    public void Handled(long at)
    {
        latencies.Add(Stopwatch.GetElapsedTime(at));
        if (Interlocked.Increment(ref handled) == Volatile.Read(ref wanted)) Tell();
    }

    private void Run(TimeSpan every)
    {
        long step = (long)(every.TotalSeconds * Stopwatch.Frequency);
        for (long next = Stopwatch.GetTimestamp() + step; !stopped; next += step)
        {
            Pause.Until(next);
            while (sent - Volatile.Read(ref handled) >= UnderWayMax && !stopped) Pause.Until(Stopwatch.GetTimestamp() + step);
            send(next);
            sent++;
        }
        Console.WriteLine($"ticks {sent}");
        // Whoever of the two comes last sees the other's value.
        Interlocked.Exchange(ref wanted, sent);
        if (Interlocked.Read(ref handled) == sent) Tell();
    }

    private void Tell()
    {
        if (Interlocked.Exchange(ref wanted, -1) >= 0) Console.WriteLine($"ticked {handled} {latencies}");
    }
}
