using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What only a primary has and does: the epoch that it holds, the commits, the records that it opens its epoch with, and the truncation of
/// the log. Made once, when the log has been taken over. The threads are those of the parts; opening is done before any of them begins.
/// </summary>
internal sealed class PrimaryDuties
{
    private readonly CoordinatorInputs inputs;
    private readonly LogWriter log;
    private readonly LogAppender appender;

    /// <summary>The Policy record of this epoch found no room in the log so far.</summary>
    private bool owesPolicy;

    public PrimaryDuties(
        CoordinatorInputs inputs, Leadership leadership, LogChain chain, LogAppender appender, Func<Lsn?> neededFrom,
        Action<Lsn> durableAdvanced)
    {
        this.inputs = inputs;
        this.appender = appender;
        log = leadership.Log.Writer;
        Tenure = new Tenure(leadership.Fence, leadership.Lock, inputs.Time, inputs.Options.HangLimit / 2);
        Committer = new Committer(log, durableAdvanced);
        Retention = new Retention(
            new Truncation(
                inputs.Files, inputs.Options.LogDirectory, inputs.Identity, chain, Tenure.Epoch, inputs.Options.Retention, Crash.Points,
                log.Release, log.RemoveOrphans, neededFrom),
            inputs.Time, inputs.Pumps.Say);
    }

    public Tenure Tenure { get; }

    public Committer Committer { get; }

    public Retention Retention { get; }

    /// <summary>The records that the epoch begins with.</summary>
    public void Open()
    {
        if (log.Tail == Lsn.Zero) AppendFirstStart(); // nobody before got that far
        StatePolicy();
    }

    /// <summary>The first record of all: the instance begins.</summary>
    private void AppendFirstStart()
    {
        Crash.Hit("create.beforeFirstStart");
        InstanceIdentity identity = inputs.Identity;
        var record = new FirstStartRecord(identity.Uuid, (ulong)identity.CreatedMicros, log.AppVersion, identity.Name);
        if (!appender.TryAppend(RecordKind.FirstStart, RecordKinds.Encode(record), out _))
            throw new InvalidOperationException("a new log has no room");
        CommitAll();
    }

    /// <summary>
    /// The first record of every primary of its own (log-format L5.13): durable before an app is told to become primary, so that one which
    /// has to stop on its way there knows whether it still must. A full disk only delays it.
    /// </summary>
    private void StatePolicy()
    {
        Crash.Hit("policy.beforeAppend");
        owesPolicy = true;
        if (!TryStateOwedPolicy()) return;
        CommitAll();
        Crash.Hit("policy.afterCommit");
    }

    /// <summary>Appends the Policy record if it found no room so far; true: it has been appended now.</summary>
    public bool TryStateOwedPolicy()
    {
        if (!owesPolicy) return false;
        CoordinatorOptions options = inputs.Options;
        var policy = new PolicyRecord(options.ForkPolicy, (ulong)(options.KeyWindow.Ticks / TimeSpan.TicksPerMicrosecond),
            (ulong)options.KeysMax, (ulong)options.KeyBytesMax)
        {
            MessageBytesMax = options.MessageBytesMax,
        };
        owesPolicy = !appender.TryAppend(RecordKind.Policy, RecordKinds.Encode(policy), out _);
        return !owesPolicy;
    }

    /// <summary>Nobody makes space yet but this thread; where the disk is full it is left to those who try again.</summary>
    private void CommitAll()
    {
        while (Committer.Step() != CommitStep.Park || (log.IsAwaitingSpace && !log.IsSpaceShort))
            if (log.IsAwaitingSpace) log.PrepareSpace();
    }
}
