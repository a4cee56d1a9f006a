using System.Diagnostics;
using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Records;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Lets other code execute the recorded inputs of a log, stretch by stretch, and holds what it does against what was done: its calls and
/// answers against those of the old build, or against what receivers and digests say, its states against checkpoints and the old build's.
/// Nothing that it does gets out. One thread.
/// </summary>
internal sealed class ReplaySession : IDisposable
{
    private const int ValueCharsMax = 200;

    private static readonly TimeSpan s_followEvery = TimeSpan.FromMilliseconds(100);

    private readonly ReplayOptions _options;
    private readonly Action<string> _tell;
    private readonly PlaceFinder _places;
    private readonly FoundPlace _from;
    private readonly FoundPlace? _until;

    /// <summary>The log is a cut, which says what was done then; null: it is none, or there is something better to compare with.</summary>
    private readonly ReplayedCut? _cut;

    private readonly ReplayedBuilds _builds;
    private readonly StateComparison _states;
    private readonly DifferenceFinder _finder;
    private readonly ReplayFindings _found;

    /// <summary>Null: the builds have not begun.</summary>
    private RecordedCalls? _calls;

    /// <summary>It was told that the old build is not the one that made the log.</summary>
    private bool _isOldTold;

    /// <param name="tell">Hears what is to be known beside the report: lines. Any thread calls it.</param>
    /// <exception cref="MisuseException">There is no such log or place.</exception>
    /// <exception cref="LogDamage">The log's chain is damaged.</exception>
    public ReplaySession(ReplayOptions options, IFileSystem files, TimeProvider time, Action<string> tell)
    {
        (_options, _tell) = (options, tell);
        LogLocation log = NamedLog.Open(options.LogDirectory, files);
        var contracts = ContractManifests.Load([], log);
        _places = new PlaceFinder(log, contracts, time);
        _states = new StateComparison(log);
        _cut = options.Old.Count == 0 && options.Until is null && !options.Follows ? ReplayedCut.TryOpen(log) : null;
        _from = _places.Find(options.From ?? (options.Follows && _states.Checkpoints().Any() ? "ckpt:1" : "start"));
        _until = options.Until is { } until ? _places.Find(until) : null;
        if (_until is { } end && end.Place.CompareTo(_from.Place) <= 0)
            throw new MisuseException($"'{options.Until}' is not behind '{options.From ?? "start"}'",
                $"the replay would begin at {_from.Place} and end at {end.Place}", "give an earlier --from or a later --until");
        _finder = new DifferenceFinder(() => new ReplayedBuilds(options, _from.Place.Record, files, tell));
        _found = new ReplayFindings(_places, new MessageFormatter(contracts, ValueCharsMax));
        _builds = new ReplayedBuilds(options, _from.Place.Record, files, tell);
    }

    /// <summary>So many bytes of the log are to be executed, as far as that is known.</summary>
    public long BytesTotal => (long)(Goal.Record.Value - _from.Place.Record.Value);

    private RecordedCalls Calls => _calls ?? throw new InvalidOperationException("the builds have not begun");

    private MessagePlace Goal => _until?.Place ?? new MessagePlace(_builds.End, 0);

    /// <summary>
    /// Executes the log until its end, until what was asked for, or until a difference behind which nothing can be compared.
    /// </summary>
    /// <param name="progress">Hears how many bytes are done.</param>
    /// <param name="stop">The replay ends, with what it has found so far.</param>
    /// <exception cref="MisuseException">A build cannot execute the log from where it is to begin.</exception>
    /// <exception cref="LogDamage">The log is damaged.</exception>
    public ReplayReport Run(Action<long> progress, CancellationToken stop)
    {
        var time = Stopwatch.StartNew();
        MessagePlace at = _from.Place;
        try
        {
            at = _builds.Begin(new MessagePlace(at.Record, 0), stop).Now.Place;
            _calls = new RecordedCalls(_builds, _places.Find("start").Place.Record, _options.Follows);
            while (!_found.IsOver(_options.StopAt)
                && TryNext(at, stop, out MessagePlace next, out CheckpointFileName? checkpoint))
            {
                at = Execute(at, next, checkpoint, stop);
                progress((long)(at.Record.Value - _from.Place.Record.Value));
            }
        }
        catch (OperationCanceledException)
        {
            // What was found so far is what was asked for.
        }
        return Report(at, time.Elapsed.TotalSeconds);
    }

    /// <summary>Finds the place where what comes next is compared; false: there is nothing more to execute.</summary>
    private bool TryNext(MessagePlace at, CancellationToken stop, out MessagePlace next, out CheckpointFileName? checkpoint)
    {
        next = Goal;
        checkpoint = null;
        while (_options.Follows && _until is null && next.CompareTo(at) <= 0)
        {
            if (stop.WaitHandle.WaitOne(s_followEvery)) return false;
            next = Goal;
        }
        if (_builds.End < next.Record) next = new MessagePlace(_builds.End, 0);
        if (next.CompareTo(at) <= 0) return false;
        ulong stretch = _found.Stretch.Bytes;
        if (next.Record.Value - at.Record.Value > stretch) next = new MessagePlace(new Lsn(at.Record.Value + stretch), 0);
        foreach (CheckpointFileName each in _states.Checkpoints())
            if (each.Lsn > at.Record && each.Lsn <= next.Record) (next, checkpoint) = (new MessagePlace(each.Lsn, 0), each);
        if (_cut is { } cut && cut.Behind.CompareTo(at) > 0 && cut.Behind.CompareTo(next) <= 0) (next, checkpoint) = (cut.Behind, null);
        return true;
    }

    private MessagePlace Execute(MessagePlace at, MessagePlace next, CheckpointFileName? checkpoint, CancellationToken stop)
    {
        Stops stops;
        try
        {
            stops = Calls.To(next, stop);
        }
        catch (ViewEndedException ended) when (ended.Code != ExitCodes.Damage)
        {
            return EndedBefore(at, next, ended.Message, stop);
        }
        MessagePlace now = stops.Now.Place;
        if (now.CompareTo(at) <= 0) now = next; // records between, of which the app executes none
        _found.Executed(stops);
        _cut?.Add(stops.Now.Emitted);
        Compare(stops, at, now, stop);
        if (!_found.IsOver(_options.StopAt)) CompareStates(checkpoint, at, now, stop);
        if (_cut is { } cut && next == cut.Behind && !_found.IsOver(_options.StopAt)) _found.CutCompared(now, cut.Lines(_builds.Now, stop));
        return now;
    }

    /// <summary>
    /// The build that is tried did not get through a stretch: what it did before may differ already, else the message is named that it
    /// does not survive.
    /// </summary>
    private MessagePlace EndedBefore(MessagePlace at, MessagePlace next, string why, CancellationToken stop)
    {
        Tell(Calls.Overdue(at), at, at, stop);
        if (_found.IsOver(_options.StopAt)) return at;
        LocatedDifference found = WithOrigin(_finder.End(at, next, stop), stop);
        if (found.Call is null && _builds.HaveOneState && found.Place.CompareTo(at) > 0)
        {
            LocatedDifference state = _finder.State(_found.StatesAgreed ?? _from.Place, found.Place, stop);
            if (state.State.Count > 0) found = state;
        }
        _found.Ended(found, why);
        return at;
    }

    private void Compare(in Stops stops, MessagePlace at, MessagePlace now, CancellationToken stop)
    {
        StretchComparison stretch = Calls.Compare(stops, isLast: now.CompareTo(Goal) >= 0);
        _found.Compared(stretch, now.Record);
        _found.Confirmed(_builds.Now.Confirmed);
        Tell(stretch, at, now, stop);
        if (_builds.Then is null && _builds.Now.Diverged is { } digests) _found.DigestDiffers(digests.Agreed, digests.Differed);
        if (_isOldTold || _builds.Then?.Diverged is not { } old) return;
        _isOldTold = true;
        _tell($"the build of --old does not do what was done, either: it differs between {old.Agreed} and {old.Differed}, so two builds are compared, and not one with what was");
    }

    private void Tell(StretchComparison stretch, MessagePlace at, MessagePlace now, CancellationToken stop)
    {
        foreach (CallDifference each in stretch.Differences)
        {
            if (_found.IsOver(_options.StopAt)) return;
            _found.Differs(WithOrigin(_finder.Call(each, at, now, stop), stop));
        }
    }

    /// <summary>The first call that differs may be the first that shows a state which has differed for long.</summary>
    private LocatedDifference WithOrigin(LocatedDifference found, CancellationToken stop) =>
        found.Call is null || !_builds.HaveOneState || _found.HasAny ? found
            : _finder.Origin(found, _found.StatesAgreed ?? _from.Place, stop) ?? found;

    private void CompareStates(CheckpointFileName? checkpoint, MessagePlace at, MessagePlace now, CancellationToken stop)
    {
        if (_options.Upgrade is { } upgrade)
        {
            if (now.CompareTo(Goal) >= 0) _found.VersionsCompared(now, upgrade.Differences(_builds.Then!, _builds.Now, stop));
            return;
        }
        bool isAtCheckpoint = checkpoint is { } name && name.Lsn == now.Record && now.Index == 0;
        IReadOnlyList<string>? lines = _builds.Then is not null
            ? isAtCheckpoint || now.CompareTo(Goal) >= 0 ? StateComparison.Lines(_builds, stop) : null
            : isAtCheckpoint ? _states.Lines(checkpoint!, _builds.Now, stop) : null;
        if (lines is null) return;
        if (lines.Count == 0) _found.StatesAgree(now);
        else if (_builds.Then is not null) _found.Differs(_finder.State(_found.StatesAgreed ?? _from.Place, now, stop));
        else
        {
            Tell(Calls.Overdue(now), at, now, stop); // a call that is missing says more
            if (!_found.IsOver(_options.StopAt)) _found.StateDiffers(_found.StatesAgreed ?? _from.Place, now, lines);
        }
    }

    private ReplayReport Report(MessagePlace at, double seconds) => _found.Complete(new ReplayReport
    {
        From = _from.Place.Record, Until = at, Records = _builds.Now.Records, DigestsAgreed = _builds.Now.DigestsAgreed, Seconds = seconds,
        OriginalSeconds = _places.AtOrBehind(at).TimeMicros - _from.TimeMicros is { } micros ? micros / 1e6 : null,
    });

    public void Dispose()
    {
        _calls?.Dispose();
        _builds.Dispose();
    }
}
