using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Knows what the app has been given, what it has executed, and whether its calls are those of the log. It owns the delivery of the log to
/// the app and what follows from each report of the app: outputs are trimmed, digests are made, receivers are forgotten. The thread that
/// reads the app, but where a member says otherwise.
/// </summary>
internal sealed class AppExecution : IDisposable
{
    private readonly ReplicaLog _log;
    private readonly OutboxSet _outboxes;
    private readonly List<DeliveredPage> _done = [];
    private volatile bool _ownsLog;

    /// <summary>The running session has reported: what is known of its progress is of no session before it.</summary>
    private volatile bool _hasReported;

    /// <param name="view">The log is executed for this view; null: for a replica.</param>
    public AppExecution(
        ReplicaLog log, LogReaders readers, LogAppender appender, OutboxSet outboxes, View? view)
    {
        (_log, _outboxes, View) = (log, outboxes, view);
        Digests = new DigestTracker(null) { Tolerates = view is null ? null : view.Tolerates };
        DigestWriter = new DigestWriter(outboxes, appender, Digests);
        Delivery = new Delivery(log, readers, log.DigestEvery, Progress, Digests, outboxes)
        {
            View = view, OneByOne = view?.IsOneByOne == true,
        };
    }

    public Delivery Delivery { get; }

    public DeliveryTracker Progress { get; } = new();

    /// <summary>It knows since when what is not executed has been durable.</summary>
    public DurableHistory History { get; } = new();

    /// <summary>The oldest durable record that is not executed has waited for so long, at least. Any thread.</summary>
    public TimeSpan UnexecutedAge => IsCaughtUp ? TimeSpan.Zero : History.AgeAt(Progress.Processed);

    public DigestTracker Digests { get; }

    public DigestWriter DigestWriter { get; }

    /// <summary>
    /// The log is this replica's to write, and its app becomes primary behind all that was durable then. Any thread.
    /// </summary>
    public bool OwnsLog => _ownsLog;

    /// <summary>The log is executed for this view; null: for a replica.</summary>
    public View? View { get; }

    /// <summary>The app stands where the log forgets a receiver; so many calls that it is not known to have are dropped.</summary>
    public event Action<Outbox, ulong>? Forgotten;

    /// <summary>
    /// Returns the question whether a state that the running session has at a mark may get a name. What a replay computed may be of another
    /// build, or differ for another reason, and every later start would begin with it; so something has to have confirmed it: a digest that
    /// a primary has logged while this session ran, or for a primary itself all who were called. A replay without calls and answers has
    /// nothing to confirm, but does not answer the marks of primaries that were gone before. The thread that reads the app; the question is
    /// put on any.
    /// </summary>
    public Func<bool> NamingOf(MarkSnapshot mark)
    {
        ReplayedStretch replayed = Delivery.Marks.Replayed;
        bool isLive = mark.End > replayed.To;
        return () => replayed == Delivery.Marks.Replayed && (
            _ownsLog ? !_outboxes.Unheard.AreAwaited : Digests.Confirmed >= replayed.To || (isLive && replayed.IsConfirmed));
    }

    private FormerOutputs Former => _outboxes.Former;

    /// <summary>All that is durable has been given to the app and executed by it. Any thread.</summary>
    public bool IsCaughtUp => Delivery.Next >= _log.Durable && Progress.IsDry;

    /// <summary>Notes how far the log is durable, and how far it is executed. The ticking thread.</summary>
    public void NoteDurable(TimeSpan now) =>
        History.Note(_log.Durable, IsCaughtUp ? _log.Durable : Progress.Processed, now);

    /// <summary>The log is this replica's now: it logs digests from here on.</summary>
    public void BecomePrimary()
    {
        Digests.LogFrom(_log.Durable);
        _ownsLog = true;
    }

    /// <summary>
    /// Logs a digest of what the app has done since the last one, where the log has stood still at <paramref name="tail"/> for a second;
    /// false: there is nothing, or the app has not come so far. The app emits nothing more until something is appended, and then nothing is
    /// logged here. The ticking thread.
    /// </summary>
    public bool TryDigestQuiet(Lsn tail, TimeSpan now)
    {
        return DigestWriter.IsStill(tail, now)
            && _hasReported && Delivery.Next == tail && Progress.IsDry && DigestWriter.TryLogQuiet(tail);
    }

    /// <summary>A session begins; the outboxes stand where its checkpoint says.</summary>
    /// <param name="header">Of the checkpoint that it begins with; null: it begins with the log.</param>
    /// <param name="part">What that checkpoint says of the coordinator.</param>
    /// <param name="replayTo">Records below this were durable before the session began.</param>
    /// <param name="app">What the app says of itself, and the version with which it begins.</param>
    public void BeginSession(
        CheckpointHeader? header, CoordinatorPart? part, ReplayState state, string replica, Lsn replayTo, (AppHello Hello, uint Runs) app)
    {
        _hasReported = false;
        (Lsn from, Lsn page) = (header?.Lsn ?? Lsn.Zero, header?.PageLsn ?? Lsn.Zero);
        Digests.BeginSession(from);
        Former.BeginSession(from, DigestWriter.Answers, part?.Answers ?? default);
        DigestWriter.BeginSession(part);
        Progress.Begin(from, page, Former.Awaited);
        Delivery.Marks.Begin(_log.Epoch, replica, new ReplayedStretch(replayTo) { IsConfirmed = DigestWriter.AreOutputsConfirmed });
        (Delivery.Build, Delivery.ExecutedBy) = (app.Hello.Build, header?.Build);
        Delivery.Begin(page, from, state, DigestWriter.Position, replayTo, (app.Runs, app.Hello.AppVersion));
    }

    /// <summary>The app has emitted a run of numbered calls to this outbox, which does not hold it yet.</summary>
    /// <exception cref="DivergenceException">An app before it had executed all this, and has not emitted so many.</exception>
    public void Emits(Outbox outbox, in RunView run)
    {
        DigestWriter.Touch(outbox);
        if (Former.Awaited is null) Former.Touch(outbox);
        else RequireKnown(outbox, run.Header.Count);
        View?.Emitted(outbox.Destination, outbox.Emitted.Number, run);
    }

    /// <summary>
    /// The app has answered callers outside. False: an app of this process has given the answers here before, so none of these is new.
    /// </summary>
    public bool Answers(in RunView run)
    {
        View?.Answered(DigestWriter.Answers.Count, run);
        DigestWriter.Add(run);
        return Former.Awaited is null;
    }

    /// <summary>The app reports that it has executed everything below this place.</summary>
    /// <exception cref="ProtocolViolation">P5.6.</exception>
    /// <exception cref="DivergenceException">What it has emitted by there is not what the log says.</exception>
    public void Executed(Lsn lsn)
    {
        _done.Clear();
        bool isMark = Progress.Report(lsn, _done);
        if (Progress.TakeCut(lsn) is { } forgotten) Forget(forgotten);
        if (isMark) DigestWriter.At(lsn);
        if (Delivery.Marks.Replayed is { } replayed && lsn <= replayed.To) replayed.IsConfirmed = DigestWriter.AreOutputsConfirmed;
        foreach (DeliveredPage page in _done)
        {
            CompareSelf(page.Self, page.End);
            Trim(page);
        }
        if (Progress.IsAtBoundary) Reported(lsn);
        _hasReported = true;
        View?.Executed(lsn);
        if (View is { KeepsOutputs: false }) _outboxes.DropCalls();
    }

    private void Reported(Lsn place)
    {
        if (Former.Awaited is null) Former.Reported(place, DigestWriter.Answers);
        else Compare(place);
    }

    private void Compare(Lsn place) => OrDiverge(place, () => Former.Reported(place, DigestWriter.Answers));

    private void RequireKnown(Outbox outbox, uint count) => OrDiverge(Former.Awaited!.Value, () => Former.RequireKnown(outbox, count));

    /// <summary>
    /// The app has executed all that was durable when its session began, and with it what the apps before it had executed.
    /// </summary>
    /// <exception cref="DivergenceException">One of them had made other calls, or given other answers.</exception>
    public void RequireAll() => OrDiverge(Delivery.Next, () => Former.RequireAll(DigestWriter.Answers));

    private void OrDiverge(Lsn place, Action compare)
    {
        try
        {
            compare();
        }
        catch (DivergenceException)
        {
            Digests.Diverge(place);
            throw;
        }
    }

    /// <summary>The app goes on as another version.</summary>
    /// <exception cref="ProtocolViolation">P5.25: nobody asked for it.</exception>
    /// <exception cref="DivergenceException">The conversion has given another state than when the upgrade was made.</exception>
    public void Switched(ConvertedFrame answer)
    {
        if (Delivery.Versions.WhatIsWrong(answer) is { } why && View?.Tolerates(why) != true) throw new DivergenceException(why);
    }

    /// <summary>
    /// The app has executed all that was durable: its calls to itself are held against those that the log holds, as those to peers are at
    /// their hellos (P6.4). It need not have reported its last pages before.
    /// </summary>
    /// <exception cref="DivergenceException">They differ.</exception>
    public void CompareSelf() => CompareSelf(Delivery.State.InputsOf(0), Delivery.Next);

    private void CompareSelf(in InputPosition logged, Lsn at)
    {
        try
        {
            _outboxes.Self.TakeReceived(logged.Number, View is { IsOfMaskedCut: true } ? null : logged.Hash);
        }
        catch (DivergenceException differs)
        {
            Digests.Diverge(at);
            if (View?.Tolerates(differs.Message) != true) throw;
        }
    }

    /// <summary>
    /// The first calls that differ from the log's, of those that are still held; for a replica whose session has ended.
    /// </summary>
    public List<string> LookAtCalls(DivergedStretch stretch, CallHistory history) => DivergenceDiagnosis.At(_outboxes, stretch, history);

    /// <summary>
    /// Returns who is called by this name, as the log says; null: it knows nobody; zeros: one that was forgotten. For a replica whose
    /// session has ended.
    /// </summary>
    public Guid? UuidOf(InstanceId peer) =>
        Delivery.State.Peers.LastOrDefault(known => known.Peer == peer) is not { } last ? null
            : ReplayState.IsForgotten(last) ? Guid.Empty : last.Uuid;

    /// <summary>
    /// Returns how many calls the app has made to each receiver that it or the log knows; it is asked while the app executes nothing.
    /// </summary>
    public IReadOnlyDictionary<InstanceId, ulong> CallsMade()
    {
        var made = _outboxes.InOrder().ToDictionary(static outbox => outbox.Destination, static outbox => outbox.Emitted.Number);
        foreach (PeerRecord peer in Delivery.State.Peers) made.TryAdd(peer.Peer, 0);
        return made;
    }

    private void Forget(Outbox outbox)
    {
        Crash.Hit("forget.before");
        ulong? dropped = outbox.Cut();
        if (Former.Awaited is null) Former.Touch(outbox);
        outbox.DigestedCount = 0;
        LockChecks.BeforeCallOut();
        if (dropped is { } calls) Forgotten?.Invoke(outbox, calls);
        Crash.Hit("forget.after");
    }

    private void Trim(in DeliveredPage page)
    {
        foreach (OutboxTrim trim in page.Trims)
        {
            Crash.Hit("trim.before");
            try
            {
                trim.Outbox.Trim(trim.Number, trim.Generation);
            }
            catch (DivergenceException differs)
            {
                Digests.Diverge(page.End);
                if (View?.Tolerates(differs.Message) != true) throw;
            }
            Crash.Hit("trim.after");
        }
    }

    public void Dispose() => Delivery.Dispose();
}
