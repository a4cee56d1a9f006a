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

    private readonly LatencyHistogram _latencies = new(); // of the thread that runs handlers
    private long _sent, _handled, _wanted = -1;
    private volatile bool _stopped;

    public void Start(TimeSpan every)
    {
        _stopped = false;
        new Thread(() => Run(every)) { IsBackground = true, Name = "ticker" }.Start();
    }

    public void Stop() => _stopped = true;

    /// <summary>A tick's handler; <paramref name="at"/> is when it was to be sent.</summary>
    public void Handled(long at)
    {
        _latencies.Add(Stopwatch.GetElapsedTime(at));
        if (Interlocked.Increment(ref _handled) == Volatile.Read(ref _wanted)) Tell();
    }

    private void Run(TimeSpan every)
    {
        long step = (long)(every.TotalSeconds * Stopwatch.Frequency);
        for (long next = Stopwatch.GetTimestamp() + step; !_stopped; next += step)
        {
            Pause.Until(next);
            while (_sent - Volatile.Read(ref _handled) >= UnderWayMax && !_stopped) Pause.Until(Stopwatch.GetTimestamp() + step);
            send(next);
            _sent++;
        }
        Console.WriteLine($"ticks {_sent}");
        // Whoever of the two comes last sees the other's value.
        Interlocked.Exchange(ref _wanted, _sent);
        if (Interlocked.Read(ref _handled) == _sent) Tell();
    }

    private void Tell()
    {
        if (Interlocked.Exchange(ref _wanted, -1) >= 0) Console.WriteLine($"ticked {_handled} {_latencies}");
    }
}
