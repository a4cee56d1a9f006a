using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// Which fork policy governs a failure (log-format L5.13): that in force at its record, and where that one would stop the app, the next in
/// the log that does not. So the answer follows from the log, whoever asks and however often the app has been stopped there.
/// </summary>
internal sealed class ForkPolicies
{
    private IReadOnlyList<PolicyChange> ahead = [];

    /// <summary>Of the last Policy record that was executed.</summary>
    internal ForkPolicy InForce { get; set; } = PolicyRecord.Default.Forks;

    /// <summary>What the coordinator knows of the log ahead.</summary>
    internal void Learn(PolicyAhead news) => ahead = news.Changes;

    /// <param name="at">The record that is being executed.</param>
    /// <param name="hasRoom">The quarantine takes the message.</param>
    internal ForkPolicy At(Lsn at, bool hasRoom)
    {
        if (!Stops(InForce, hasRoom)) return InForce;
        foreach (PolicyChange change in ahead)
            if (change.Position > at && !Stops(change.Forks, hasRoom)) return change.Forks;
        return ForkPolicy.Stop;
    }

    private static bool Stops(ForkPolicy policy, bool hasRoom) =>
        policy == ForkPolicy.Stop || (policy == ForkPolicy.Quarantine && !hasRoom);
}
