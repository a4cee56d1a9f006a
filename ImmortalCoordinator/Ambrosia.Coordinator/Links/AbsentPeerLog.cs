using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// Logs that peers cannot be called: the first at once by a line of its own, and those that follow it by one line for many, with ten names
/// and the number of all, ever more seldom while more of them come. Any thread may note a peer; one thread writes the lines that are due.
/// </summary>
internal sealed class AbsentPeerLog(ILogger logger, TimeProvider time)
{
    private const int NamesMax = 10;
    private static readonly TimeSpan s_pauseMin = TimeSpan.FromSeconds(1), s_pauseMax = TimeSpan.FromMinutes(1);

    private readonly RankedLock _gate = new(LockRank.AbsentPeerLog);

    /// <summary>The lock guards both: peers that the catalog does not name, and those that do not answer.</summary>
    private readonly Group _unlisted = new(), _unreachable = new();

    private sealed class Group
    {
        public readonly List<InstanceId> Named = [];
        public int Count;
        public string Why = "";
        public TimeSpan Pause, Due;
    }

    /// <summary>Notes a peer of which the operator has not heard since it was last reached, and writes what is due.</summary>
    public void Note(InstanceId peer, DialFailure failure, string why)
    {
        using (_gate.Enter())
        {
            Group group = failure == DialFailure.NoAnswer ? _unreachable : _unlisted;
            if (group.Named.Count < NamesMax) group.Named.Add(peer);
            group.Count++;
            group.Why = why;
        }
        WriteDue();
    }

    /// <summary>Writes the lines whose time has come.</summary>
    public void WriteDue()
    {
        TimeSpan now = time.GetElapsedTime(0);
        if (Take(_unlisted, now) is { } unlisted)
        {
            if (unlisted.Count == 1) logger.PeerUnlisted(unlisted.First);
            else logger.PeersUnlisted(unlisted.Count, unlisted.Names);
        }
        if (Take(_unreachable, now) is not { } unreachable) return;
        if (unreachable.Count == 1) logger.PeerUnreachable(unreachable.First, unreachable.Why);
        else logger.PeersUnreachable(unreachable.Count, unreachable.Names, unreachable.Why);
    }

    private (int Count, InstanceId First, string Names, string Why)? Take(Group group, TimeSpan now)
    {
        using (_gate.Enter())
        {
            if (group.Count == 0 || now < group.Due) return null;
            bool wasQuiet = group.Pause == TimeSpan.Zero || now - group.Due > group.Pause;
            group.Pause = wasQuiet ? s_pauseMin : TimeSpan.FromTicks(Math.Min(s_pauseMax.Ticks, 2 * group.Pause.Ticks));
            group.Due = now + group.Pause;
            int rest = group.Count - group.Named.Count;
            string names = string.Join(", ", group.Named) + (rest > 0 ? $" and {rest} more" : "");
            var taken = (group.Count, group.Named[0], names, group.Why);
            group.Named.Clear();
            group.Count = 0;
            return taken;
        }
    }
}
