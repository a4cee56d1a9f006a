using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Retention;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Owns all that a replica does about checkpoints: when one is due and who takes it, how the app's image gets to the disk, what follows
/// from a published one, and with which one a session begins. Threads: as each member says.
/// </summary>
internal sealed class ReplicaCheckpoints : IDisposable
{
    private readonly CoordinatorInputs _inputs;
    private readonly ReplicaLog _log;
    private readonly AppExecution _execution;
    private readonly CheckpointScheduler _scheduler;
    private readonly PublishedCheckpoints _published;
    private readonly SecondOpinion _opinion;
    private readonly CheckpointSnapshot _snapshot;

    public ReplicaCheckpoints(CoordinatorInputs inputs, ReplicaLog log, LogReaders readers, LogAppender appender, OutboxSet outboxes,
        AppExecution execution)
    {
        (_inputs, _log, _execution, Readers) = (inputs, log, execution, readers);
        CoordinatorOptions options = inputs.Options;
        Trigger = new CheckpointTrigger(options.CheckpointEveryBytes, options.CheckpointInterval, () => execution.Delivery.LastInput);
        Recovery = new CheckpointRecovery(inputs.Location, readers.Chain, inputs.Logger);
        _opinion = new SecondOpinion(inputs);
        var assigner = new CheckpointAssigner(options.Replica);
        var hashes = new StateHashes(appender);
        execution.Delivery.StateHashRecorded = hashes.Recorded;
        _published = new PublishedCheckpoints(inputs, log, outboxes, execution.Delivery, Trigger, assigner) { StateHashes = hashes };
        var memory = new CheckpointMemory();
        var writer = new CheckpointJobWriter(
            _published, header => new CheckpointWriter(inputs.Files, options.LogDirectory, inputs.Identity, header, Crash.Points, memory),
            () => log.Stated);
        _snapshot = new CheckpointSnapshot(inputs, readers, outboxes, execution);
        Pipeline = new CheckpointPipeline(_snapshot, _published, writer, inputs.Pumps.CheckpointWork, inputs.Pumps.RoomForApp);
        _scheduler = new CheckpointScheduler(inputs, Trigger, assigner, appender, _opinion, TryAdopt);
    }

    /// <summary>They read the log that the checkpoints are of.</summary>
    public LogReaders Readers { get; }

    public CheckpointTrigger Trigger { get; }

    public CheckpointRecovery Recovery { get; }

    public CheckpointPipeline Pipeline { get; }

    /// <summary>It asks for the checkpoint of a version that is not in force yet; null: nobody does. Any thread.</summary>
    public IVersionCheckpoint? Upgrade { get => _snapshot.Upgrade; set => _snapshot.Upgrade = value; }

    /// <inheritdoc cref="CheckpointSnapshot.PartAt"/>
    public CoordinatorPart? PartAt(ReplayState state) => _snapshot.PartAt(state);

    /// <summary>This replica has the log. Before its app becomes primary; one thread.</summary>
    public void BecomePrimary(RetentionScheduler retention)
    {
        retention.IsUnusable = Recovery.IsRefused;
        _published.BecomePrimary(retention);
    }

    /// <summary>
    /// Returns the place at or below which a checkpoint must stay, and the log behind it; null: any will do. The thread that writes
    /// checkpoints.
    /// </summary>
    /// <param name="app">The same, as far as this replica's app is concerned.</param>
    public Lsn? FindNeeded(Lsn? app) => _opinion.FindNeeded() is { } confirmed && !(app < confirmed) ? confirmed : app;

    /// <summary>The segment of the log that a reader keeps from being removed, of a primary; null: none is kept. Any thread.</summary>
    public SegmentHold? Held => _published.Held;

    /// <summary>
    /// A checkpoint may be taken by a primary: no receiver may say any more that it has other calls than a replay made. Any thread.
    /// </summary>
    public bool AreAllowed => !_published.AreReceiversAwaited;

    /// <summary>A checkpoint was asked for, or is on its way. Any thread.</summary>
    public bool IsDue => Trigger.IsDue;

    /// <summary>Asks for a checkpoint as soon as one can be taken. Any thread.</summary>
    public void Request() => Trigger.Request(_log.Durable);

    /// <summary>
    /// Asks for the last checkpoint of this process: its own replica takes it, at once, with suspended handlers in it if there are any.
    /// Inputs are refused already. Any thread.
    /// </summary>
    public void RequestLast()
    {
        _scheduler.IsLast = true;
        Request();
    }

    /// <summary>
    /// The app sends its image now, of which the first frame is this. False: there is no room, and the same frame comes again (P5.7). The
    /// thread that reads the app.
    /// </summary>
    /// <param name="isWanted">False while the app of a primary replays.</param>
    /// <param name="executed">Hears that everything below a place is executed, before the state of that place is taken.</param>
    public bool Begin(ImageBegin begin, bool isWanted, Action<Lsn> executed)
    {
        Trigger.Written();
        return Pipeline.Begin(begin, isWanted && _execution.View is null, executed);
    }

    /// <summary>
    /// P5.8: the image may come yet, or, if it cannot be written, never: the next mark tries again. The thread that reads the app.
    /// </summary>
    public void Waits(Waiting waiting)
    {
        if (!waiting.IsRefused)
        {
            Trigger.Failed($"the app cannot write it down yet: {waiting.Why}");
            _inputs.Logger.CheckpointWaits(waiting.Why);
            return;
        }
        string why = waiting.Why[Waiting.Refused.Length..];
        Trigger.Failed($"the app refuses it: {why}");
        if (Trigger.Refused(why)) _inputs.Logger.CheckpointRefused(why);
    }

    /// <summary>An unfinished checkpoint comes to nothing. The thread that reads the app.</summary>
    public void SessionEnded()
    {
        Pipeline.SessionEnded();
        Trigger.SessionEnded();
    }

    /// <summary>Tells the thread that writes checkpoints that it may have work now. Any thread.</summary>
    public void Wake()
    {
        if (HasWork) _inputs.Pumps.CheckpointWork();
    }

    /// <summary>
    /// Decides whether a mark is due, or a look at those of others; <see cref="Step"/> does it. The ticking thread of a primary.
    /// </summary>
    /// <param name="now">Monotonic.</param>
    /// <param name="mayMark">The app executes the log's end, so a checkpoint makes sense.</param>
    public void Tick(EmittedBytes outputs, TimeSpan now, bool mayMark)
    {
        if (_scheduler.Tick(_log.Durable, outputs, now, mayMark && !_published.AreReceiversAwaited)) _inputs.Pumps.CheckpointWork();
        if (_published.IsTruncationDue(now)) Pipeline.Truncate();
    }

    /// <summary>There is something to <see cref="Step"/> for. Any thread.</summary>
    public bool HasWork => _scheduler.HasWork || Pipeline.HasWork;

    /// <summary>Until our own app has come to a checkpoint's place there is nothing that it could be held against.</summary>
    private bool TryAdopt(CheckpointFileName name)
    {
        if (_execution.Progress.Processed < name.Lsn) return false;
        Pipeline.Adopt(name);
        return true;
    }

    /// <summary>Does one piece of work; false: there is none now. The thread that writes checkpoints.</summary>
    public bool Step() => _scheduler.Step(_log.Epoch) || Pipeline.Step();

    /// <summary>Compares this replica's state with checkpoints of others. The thread that writes checkpoints.</summary>
    /// <exception cref="DivergenceException">Exit 70.</exception>
    public void CompareStates() => _published.CompareStates();

    /// <inheritdoc cref="PublishedCheckpoints.StateDiverged"/>
    public (Lsn From, Lsn To)? StateDiverged => _published.StateDiverged(_execution.Digests.Began);

    /// <summary>
    /// This replica has diverged: what it, or where it is primary any replica, published since it last agreed is taken back. Called on the
    /// way out.
    /// </summary>
    public void RemoveDoubtful()
    {
        Pipeline.Forbid();
        Lsn logBegins = Readers.Chain.Segments is [LogSegment first, ..] ? first.FirstLsn : Lsn.Zero;
        _published.RemoveDoubtful(_execution.Digests.Began, _execution.Digests.Confirmed, logBegins);
    }

    public void Dispose() => Pipeline.Dispose();
}
