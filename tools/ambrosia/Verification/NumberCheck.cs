using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// The numbers of runs along the log: 1, 2, 3, … for each origin without gaps (log-format L5.2, I1); impulses never twice in an epoch of
/// their sender. Where reading began in the middle, or jumped over damage, the next number of each origin is taken as it is.
/// </summary>
internal sealed class NumberCheck
{
    private readonly Dictionary<uint, ulong> _last = [];
    private readonly Dictionary<(uint Origin, ulong Epoch), ulong> _impulses = [];
    private bool _isFromStart;

    /// <summary>Messages seen.</summary>
    public long Messages { get; private set; }

    /// <summary>The log is read from its oldest page, perhaps not for the first time.</summary>
    public void Restart(bool isStart)
    {
        Begin(isStart);
        Messages = 0;
    }

    /// <summary>Reading goes on at a place before which something is not known.</summary>
    /// <param name="isStart">It is the log's beginning: everything is known.</param>
    public void Begin(bool isStart)
    {
        _last.Clear();
        _impulses.Clear();
        _isFromStart = isStart;
    }

    /// <returns>What is wrong, or null.</returns>
    public string? Take(RunHeader run)
    {
        Messages += run.Count;
        return run.Kind == MessageKind.Impulse ? TakeImpulses(run) : TakeNumbered(run);
    }

    private string? TakeNumbered(RunHeader run)
    {
        bool isKnown = _last.TryGetValue(run.Peer, out ulong last);
        _last[run.Peer] = run.Last;
        if (!isKnown && !_isFromStart) return null;
        return run.First == last + 1 ? null : $"a run of origin {run.Peer} begins at number {run.First}, and {last + 1} comes next (L5.2)";
    }

    private string? TakeImpulses(RunHeader run)
    {
        _impulses.TryGetValue((run.Peer, run.Hash), out ulong last);
        _impulses[(run.Peer, run.Hash)] = Math.Max(last, run.Last);
        return run.First > last ? null
            : $"impulses of origin {run.Peer} in its epoch {run.Hash} begin at number {run.First}, and {last} was there already (L5.3)";
    }
}
