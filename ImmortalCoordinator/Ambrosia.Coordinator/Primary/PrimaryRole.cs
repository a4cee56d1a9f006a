using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Retention;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// What only a primary has and does: the epoch that it holds, the commits, the records that it opens its epoch with, and the truncation of
/// the log. Made once, when the log has been taken over. The threads are those of the parts; opening is done before any of them begins.
/// </summary>
internal sealed class PrimaryRole
{
    private readonly CoordinatorInputs _inputs;
    private readonly LogWriter _log;
    private readonly LogAppender _appender;

    /// <summary>The Policy record of this epoch found no room in the log so far.</summary>
    private bool _owesPolicy;

    public PrimaryRole(
        CoordinatorInputs inputs, PrimaryStart start, LogChain chain, LogAppender appender, Func<Lsn?> neededFrom,
        Action<Lsn> durableAdvanced)
    {
        _inputs = inputs;
        _appender = appender;
        _log = start.Log.Writer;
        PrimaryLease = new PrimaryLease(start.Fence, start.Lock, inputs.Time, inputs.Options.HangLimit / 2, () => _log.Segment);
        Committer = new Committer(_log, durableAdvanced);
        var holds = new SegmentHolds(inputs.Options.HoldLimit, inputs.Time);
        Retention = new RetentionScheduler(
            new Truncation(inputs.Location, _log, chain, inputs.Options.Retention, neededFrom, holds), holds, inputs.Time, inputs.Logger);
    }

    public PrimaryLease PrimaryLease { get; }

    public Committer Committer { get; }

    public RetentionScheduler Retention { get; }

    /// <summary>The records that the epoch begins with.</summary>
    public void Open()
    {
        if (_log.Tail == Lsn.Zero) AppendFirstStart(); // nobody before got that far
        StatePolicy();
    }

    /// <summary>The first record of all: the instance begins.</summary>
    private void AppendFirstStart()
    {
        Crash.Hit("create.beforeFirstStart");
        InstanceIdentity identity = _inputs.Identity;
        var record = new FirstStartRecord(identity.Uuid, (ulong)identity.CreatedMicros, _log.AppVersion, identity.Name);
        if (!_appender.TryAppend(RecordKind.FirstStart, RecordKinds.Encode(record), out _))
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
        _owesPolicy = true;
        if (!TryStateOwedPolicy()) return;
        CommitAll();
        Crash.Hit("policy.afterCommit");
    }

    /// <summary>Appends the Policy record if it found no room so far; true: it has been appended now.</summary>
    public bool TryStateOwedPolicy()
    {
        if (!_owesPolicy) return false;
        CoordinatorOptions options = _inputs.Options;
        var policy = new PolicyRecord(options.ForkPolicy, (ulong)(options.KeyWindow.Ticks / TimeSpan.TicksPerMicrosecond),
            (ulong)options.KeysMax, (ulong)options.KeyBytesMax)
        {
            MessageBytesMax = options.MessageBytesMax,
        };
        _owesPolicy = !_appender.TryAppend(RecordKind.Policy, RecordKinds.Encode(policy), out _);
        return !_owesPolicy;
    }

    /// <summary>Tells operators when the wall clock was set. The ticking thread.</summary>
    public void TellOfJumps()
    {
        if (_log.Clock.TakeJump(out TimeSpan jump, out TimeSpan ahead)) _inputs.Logger.ClockJumped(jump.TotalSeconds, ahead.TotalSeconds);
    }

    /// <summary>Nobody makes space yet but this thread; where the disk is full it is left to those who try again.</summary>
    private void CommitAll()
    {
        while (Committer.Step() != CommitStep.Park || (_log.IsAwaitingSpace && !_log.IsSpaceShort))
            if (_log.IsAwaitingSpace) _log.PrepareSpace();
    }
}

/// <summary>
/// Holds what a replica has once it is primary: the epoch that it claimed, the lock that it took first, and the log that it took over.
/// </summary>
internal sealed record PrimaryStart(Fence Fence, PrimaryLock Lock, PrimaryLog Log);
