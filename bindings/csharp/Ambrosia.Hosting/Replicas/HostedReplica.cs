using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Session;

namespace Ambrosia.Hosting.Replicas;

/// <summary>
/// A replica of this host as health checks and metrics see it: its coordinator, in this process or beside it, is asked how it is. It owns
/// the last answer, and one from before by which a rate is told. Any thread.
/// </summary>
/// <param name="ask">Asks the coordinator; null: it has not begun, or does not answer.</param>
internal sealed class HostedReplica(string name, Func<JsonObject?> ask, TimeProvider time)
{
    /// <summary>Who asks within this time gets the same answer: the instruments of one collection do.</summary>
    private static readonly TimeSpan s_fresh = TimeSpan.FromMilliseconds(100), s_rateOver = TimeSpan.FromSeconds(1);

    private volatile Sample? _last, _before;
    private int _isAsking;

    internal string Name => name;

    /// <summary>Whether the pumps get on; null: they are in another process.</summary>
    internal PumpProgress? Progress { get; init; }

    /// <summary>Says what the immortal of this process waits for; it returns null before it has begun.</summary>
    internal Func<WaitingWork?> Waiting { get; init; } = static () => null;

    /// <summary>A pump that is at one piece of work for longer than this hangs.</summary>
    internal TimeSpan HangsAfter { get; init; }

    /// <summary>The pumps that hang, and since when, the longest first.</summary>
    internal IEnumerable<(string Pump, TimeSpan Lasts)> Hanging => Progress?.LongerThan(HangsAfter) ?? [];

    /// <summary>The status that the coordinator tells now; null: it tells none.</summary>
    internal ReplicaStatus? Now => _last is { } last && time.GetElapsedTime(last.At) < s_fresh ? last.Status : Ask();

    /// <summary>What it said last, without waiting for it; it is asked anew meanwhile.</summary>
    internal ReplicaStatus? Last
    {
        get
        {
            if (Interlocked.Exchange(ref _isAsking, 1) == 0) ThreadPool.QueueUserWorkItem(static replica => replica.AskAside(), this, false);
            return _last?.Status;
        }
    }

    /// <summary>How many bytes of log were executed a second lately; null: it was not asked often enough to tell.</summary>
    internal double? BytesPerSecond => _last is { Status: { } now } last && _before is { Status: { } then } before
        ? (now.Executed - then.Executed) / time.GetElapsedTime(before.At, last.At).TotalSeconds : null;

    private void AskAside()
    {
        _ = Ask();
        Volatile.Write(ref _isAsking, 0);
    }

    private ReplicaStatus? Ask()
    {
        JsonObject? answer = ask();
        var sample = new Sample(answer is null ? null : new ReplicaStatus(answer) { Waiting = Waiting() ?? default }, time.GetTimestamp());
        if (_before is null || time.GetElapsedTime(_before.At) >= s_rateOver) _before = _last;
        _last = sample;
        return sample.Status;
    }

    private sealed record Sample(ReplicaStatus? Status, long At);
}
