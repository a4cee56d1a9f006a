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
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// What only a primary has and does: the epoch that it holds, the commits, the records that it opens its epoch with, and the truncation of
/// the log. Made once, when the log has been taken over. The threads are those of the parts; those of a secondary run already, and append
/// nothing that is owed before <see cref="Open"/> has.
/// </summary>
internal sealed class PrimaryRole : IBeatenLog
{
    private static readonly string s_version = typeof(PrimaryRole).Assembly.GetName().Version?.ToString() ?? "";

    private readonly CoordinatorInputs _inputs;
    private readonly LogWriter _log;
    private readonly LogAppender _appender;

    /// <summary>
    /// The records that the log, and this epoch, begin with and that are not appended so far. The first one of a log and the one of the
    /// epoch's build say what the app says of itself, so they wait for one; each may find no room. Written by the
    /// thread that has <see cref="_isAppending"/>.
    /// </summary>
    private volatile bool _owesFirstStart, _owesPolicy = true, _owesBuild = true;
    private int _isAppending = 1; // whoever opens has it first

    public PrimaryRole(
        CoordinatorInputs inputs, PrimaryStart start, LogChain chain, LogAppender appender, Func<Lsn?> neededFrom,
        Action<Lsn> durableAdvanced)
    {
        _inputs = inputs;
        _appender = appender;
        _log = start.Log.Writer;
        _owesFirstStart = _log.Tail == Lsn.Zero; // nobody before got that far
        Further = new FurtherReplicas(inputs, _log);
        PrimaryLease = new PrimaryLease(start.Fence, start.Lock, inputs.Time, inputs.Options.HangLimit / 2, this);
        Committer = new Committer(_log, durableAdvanced);
        var holds = new SegmentHolds(inputs.Options.HoldLimit, inputs.Time);
        Retention = new RetentionScheduler(
            new Truncation(inputs.Location, _log, chain, inputs.Options.Retention, neededFrom, holds), holds, inputs.Time, inputs.Logger);
    }

    public PrimaryLease PrimaryLease { get; }

    /// <summary>It knows of replicas that have seen more of the log than there is.</summary>
    public FurtherReplicas Further { get; }

    public Committer Committer { get; }

    public RetentionScheduler Retention { get; }

    ulong IBeatenLog.Segment => _log.Segment;

    Lsn IBeatenLog.Flushed => _inputs.Options.UnsafeNoFlush ? Lsn.Zero : _log.Durable;

    /// <summary>
    /// Appends and commits the records that the epoch begins with, as far as they need no app: they are durable before one is told to
    /// become primary, so that an app which has to stop on its way there knows whether it still must (log-format L5.13). A full disk only
    /// delays them.
    /// </summary>
    /// <param name="app">The app that follows the log already; null: there is none.</param>
    public void Open(AppHello? app)
    {
        if (!AppendOwed(app)) return;
        CommitAll();
        Crash.Hit("policy.afterCommit");
    }

    /// <summary>Appends what the epoch begins with and is not in the log yet; true: something has been appended now. Any thread.</summary>
    /// <param name="app">What the app says of itself; null: none has come.</param>
    public bool TryAppendOwed(AppHello? app)
    {
        if (!_owesFirstStart && !_owesPolicy && !(_owesBuild && app is not null)) return false;
        return Interlocked.Exchange(ref _isAppending, 1) == 0 && AppendOwed(app); // else another thread is about it
    }

    private bool AppendOwed(AppHello? app)
    {
        try
        {
            bool isAny = _owesFirstStart && app is not null && TryAppendFirstStart(app.AppVersion);
            if (!_owesFirstStart) isAny |= TryAppendPolicy();
            if (!_owesPolicy && app is not null) isAny |= TryAppendBuild(app);
            return isAny;
        }
        finally
        {
            Volatile.Write(ref _isAppending, 0);
        }
    }

    /// <summary>Some of them are not appended yet. Any thread.</summary>
    public bool IsOwing => _owesFirstStart || _owesPolicy || _owesBuild;

    /// <summary>The first record of all: the instance begins.</summary>
    private bool TryAppendFirstStart(uint appVersion)
    {
        Crash.Hit("create.beforeFirstStart");
        InstanceIdentity identity = _inputs.Identity;
        var record = new FirstStartRecord(identity.Uuid, (ulong)identity.CreatedMicros, appVersion, identity.Name);
        _owesFirstStart = !_appender.TryAppendVersion(Lsn.Zero, RecordKind.FirstStart, RecordKinds.Encode(record), appVersion);
        return !_owesFirstStart;
    }

    private bool TryAppendPolicy()
    {
        if (!_owesPolicy) return false;
        Crash.Hit("policy.beforeAppend");
        CoordinatorOptions options = _inputs.Options;
        var policy = new PolicyRecord(options.ForkPolicy, (ulong)(options.KeyWindow.Ticks / TimeSpan.TicksPerMicrosecond),
            (ulong)options.KeysMax, (ulong)options.KeyBytesMax)
        {
            MessageBytesMax = options.MessageBytesMax,
        };
        _owesPolicy = !_appender.TryAppend(policy, out _);
        return !_owesPolicy;
    }

    /// <summary>One build executes an epoch: what follows is executed by this one.</summary>
    private bool TryAppendBuild(AppHello app)
    {
        if (!_owesBuild) return false;
        Crash.Hit("build.beforeAppend");
        uint version = _log.AppVersion;
        if (version == 0) // a record that says so would end every later start with 65
            throw new InvalidOperationException($"the log of epoch {PrimaryLease.Epoch} goes on at {_log.Tail} and states no app version");
        if (!app.Executes(version)) return false; // the old one of two apps, which only executes again what lies before an upgrade
        var build = new BuildRecord(PrimaryLease.Epoch, version, app.Build, app.Binding, app.Runtime, app.Culture, app.Cpu,
            app.ContractHash, s_version);
        _owesBuild = !_appender.TryAppend(build, out _);
        return !_owesBuild;
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
