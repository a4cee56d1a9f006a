using Ambrosia.Inspection.Records;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>Describes the first message on a channel that two executions of a log do not have in common.</summary>
/// <param name="To">Null: callers outside.</param>
/// <param name="Then">What was emitted when the log was made, or by the old build; null: nothing of this number was.</param>
/// <param name="Now">What the new build has emitted; null: nothing.</param>
internal sealed record CallDifference(InstanceId? To, ulong Number, EmittedMessage? Then, EmittedMessage? Now)
{
    /// <summary>
    /// What is answered to the one may be answered to the other: they go to one method, and are known by one number. Where that is not so,
    /// the recorded answers belong to other calls.
    /// </summary>
    public bool IsAligned => Then is not null && Now is not null && Then.Kind == Now.Kind && Then.Method == Now.Method
        && Then.CallId == Now.CallId && Then.Session == Now.Session;

    /// <summary>No message before this record makes the difference.</summary>
    public Lsn? NotBefore => (Then?.Cause?.First, Now?.Cause?.First) switch
    {
        ({ } then, { } now) => then < now ? then : now,
        var (then, now) => then ?? now,
    };
}
