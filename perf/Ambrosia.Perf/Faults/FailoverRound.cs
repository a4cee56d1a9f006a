// What is heard of a round in whose middle the primary is killed. Both replicas execute it and both tell of it, and their lines come in any
// order: the one that follows may have ended the round before the primary's half is heard of.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>A round of <c>failover</c>, line by line.</summary>
internal sealed class FailoverRound(int number, long messages, int bytes, Member primary, Member second)
{
    private long _admitted, _done;

    /// <summary>The primary has told that half of the messages came: now it is killed.</summary>
    public bool IsHalf { get; private set; }

    /// <summary>The other replica is primary, and all messages were executed.</summary>
    public bool IsOver => _admitted != 0 && _done != 0;

    public static bool Concerns(Line line) => line.Words is ["half" or "done", ..] or ["primary", _];

    /// <exception cref="FailedRoundException">Other totals than those that were sent.</exception>
    public void Take(Line line)
    {
        switch (line.Words)
        {
            case ["half", string of, ..] when of == $"{number}" && line.From == primary: IsHalf = true; break;
            case ["primary", string ticks] when line.IsOfLastStart && line.From == second: _admitted = long.Parse(ticks); break;
            // Each replica says it, and again when it replays: the first counts.
            case ["done", string of, _, string count, string total, string disorder, string ticks] when of == $"{number}" && _done == 0:
                RoundTotals.Check(count, total, disorder, messages, bytes);
                _done = long.Parse(ticks);
                break;
        }
    }

    /// <summary>Null when the round had ended before the kill, which then proves nothing.</summary>
    public FailedOver? Since(long killed) => _done < killed ? null : new FailedOver(Ms(killed, _admitted), Ms(killed, _done));

    private static double Ms(long from, long to) => Stopwatch.GetElapsedTime(from, to).TotalMilliseconds;
}
