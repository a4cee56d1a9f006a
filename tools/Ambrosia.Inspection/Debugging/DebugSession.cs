using System.Diagnostics;
using System.Globalization;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Images.Json;
using Ambrosia.Images.Paths;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Records;
using Ambrosia.Inspection.States;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Debugging;

/// <summary>
/// Looks at the past of a service: a view of its log, asked by places as people write them, and answering in their words. One thread.
/// </summary>
public sealed class DebugSession : IDisposable
{
    /// <summary>A value in a line has at most so many characters.</summary>
    private const int ValueCharsMax = 80;

    /// <summary>So many calls of a step are shown.</summary>
    private const int CallsMax = 1_000;

    /// <summary>What a cut emits is summed up whenever so much of it is executed. In bytes.</summary>
    private const ulong StretchBytes = 1 << 20;

    private readonly LogLocation _log;
    private readonly PlaceFinder _places;
    private readonly MessageFormatter _messages;
    private readonly ContractManifests _contracts;
    private readonly ViewHost _view;
    private readonly Stopwatch _time = Stopwatch.StartNew();
    private ViewStop? _stop;

    /// <param name="tell">Hears what is to be known beside the answers: lines. Any thread calls it.</param>
    /// <exception cref="MisuseException">There is no such log or checkpoint, or this user may not read it.</exception>
    /// <exception cref="LogDamage">The log's chain is damaged.</exception>
    public DebugSession(DebugOptions options, IFileSystem files, TimeProvider time, Action<string> tell)
    {
        _log = NamedLog.Open(options.LogDirectory, files);
        _contracts = NamedLog.Reading(options.LogDirectory, () => ContractManifests.Load([], _log));
        _places = new PlaceFinder(_log, _contracts, time);
        _messages = new MessageFormatter(_contracts, ValueCharsMax);
        var viewed = new ViewOptions
        {
            LogDirectory = _log.Directory,
            Checkpoint = CheckpointOf(options.Checkpoint), App = options.App, AppSocket = options.AppSocket,
            Hold = options.Hold, WaitsForDebugger = options.WaitsForDebugger, BreaksInDebugger = options.BreaksInDebugger,
        };
        _view = NamedLog.Reading(options.LogDirectory, () => new ViewHost(viewed, files, new ToldWarnings(tell), tell));
    }

    /// <summary>The variables by which an app that is not started here finds the view.</summary>
    public IReadOnlyDictionary<string, string> Environment => _view.Environment;

    /// <summary>The name of the instance whose log it is.</summary>
    public string Instance => _log.Identity.Name;

    /// <summary>Finds a place, as a person writes it.</summary>
    /// <exception cref="MisuseException">It is not there; the nearest are named.</exception>
    /// <exception cref="LogDamage">The log is damaged before it.</exception>
    public FoundPlace Find(string position) => _places.Find(position);

    /// <summary>An app that was not started here has ended, so that nobody waits for it any more. Any thread.</summary>
    public void AppEnded(int code) => _view.EndedOutside(code);

    /// <summary>Starts the app.</summary>
    /// <param name="toward">Where it is to go first: its culture is the one in which that was executed. Null: the log's end.</param>
    public void Start(FoundPlace? toward = null) => _view.Start(toward?.Place.Record);

    /// <summary>
    /// Says with what it has begun, by which build the records were executed and whether this one is the same: lines. It has stopped once.
    /// </summary>
    public IEnumerable<string> Introduction() => ViewNotice.Of(_view, _log, _stop?.Place.Record ?? _view.End);

    /// <summary>Executes everything before a place, and says in a line where it has stopped.</summary>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public string To(FoundPlace place, CancellationToken stop = default)
    {
        _time.Restart();
        return Stopped(_view.To(place.Place, stop));
    }

    /// <summary>Executes one message, and says where it has stopped.</summary>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public string Next(CancellationToken stop = default)
    {
        _time.Restart();
        return Stopped(_view.Next(stop));
    }

    /// <summary>Executes a cut and the message that it ends with, and says what was done.</summary>
    /// <exception cref="ViewEndedException">The view is over: the app may have died of the message.</exception>
    public CutOutcome Execute(Cut cut, CancellationToken stop = default)
    {
        FoundPlace place = Find(cut.Place);
        var tally = new EmissionTally();
        _view.KeepsEmissions = true;
        for (ulong at = cut.From + StretchBytes; at < place.Place.Record.Value; at += StretchBytes)
            tally.Add(_view.To(new MessagePlace(new Lsn(at), 0), stop).Emitted);
        To(place, stop);
        tally.Add(_stop!.Emitted);
        if (!cut.IsEnd)
        {
            Next(stop);
            tally.Add(_stop.Emitted);
        }
        _view.KeepsEmissions = false;
        using ViewedImage image = Show(stop);
        return new CutOutcome(
            _view.App?.Build is { } build ? $"{build}" : null, cut.IsEnd ? [] : [.. Calls()], tally.Sums, $"{image.Hash:x16}");
    }

    /// <summary>
    /// Says in what a build that has executed a cut differs from what was done then: lines; none: it is alike.
    /// </summary>
    /// <param name="now">Of <see cref="Execute"/>, behind which nothing was executed.</param>
    /// <exception cref="MisuseException">The cut does not say what was done then.</exception>
    public IReadOnlyList<string> DifferencesFrom(Cut cut, CutOutcome now, CancellationToken stop = default)
    {
        CutOutcome then = cut.Then ?? throw new MisuseException($"{cut.Directory} does not say what was done then",
            "it was cut without a build, or the build died of the message", "cut it again with --app and the build of then");
        using ViewedImage image = Show(stop);
        return CutComparison.Lines(cut, then, now, image.Bytes);
    }

    /// <summary>Waits until a debugger's user has gone on, and says where it has stopped then.</summary>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public string AwaitStop(CancellationToken stop = default) => Stopped(_view.AwaitStop(stop));

    /// <summary>Says where it has stopped since, without being asked: a debugger's user has gone on. It does not wait.</summary>
    public IReadOnlyList<string> StopsMeanwhile() => [.. _view.StopsMeanwhile().Select(Stopped)];

    /// <summary>Says in a line where it stands.</summary>
    public string Where() => _stop is { } stop ? LineOf(stop) : "nothing is executed yet";

    /// <summary>Says what the message that was executed last has called, a line each.</summary>
    public IEnumerable<string> Calls() =>
        EmittedMessage.In(_stop?.Emitted ?? ViewedEmissions.None).Take(CallsMax).Select(each => each.Describe(_messages));

    /// <summary>The place where it stands; null: nothing is executed yet.</summary>
    public MessagePlace? Place => _stop?.Place;

    /// <summary>Returns the image of the state where it stands; whoever takes it disposes of it.</summary>
    /// <exception cref="MisuseException">There is none, or it cannot be written.</exception>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public ViewedImage Show(CancellationToken stop = default) => _view.Show(stop);

    /// <summary>Writes the state where it stands as JSON, in UTF-8 and pieces.</summary>
    /// <exception cref="MisuseException">There is none, or it cannot be shown.</exception>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public void WriteState(Action<ReadOnlySpan<byte>> take, bool isIndented, CancellationToken stop = default)
    {
        using ViewedImage image = Show(stop);
        StatePaths.Write(image.Bytes, new ImageOrigin(null, _stop!.Place), null, take, isIndented);
    }

    /// <summary>Writes what stands at a path of the state, as <c>accounts["alice"].Balance</c> is one, with the path as JSON.</summary>
    /// <exception cref="MisuseException">It is no path, or nothing stands there; the nearest names are told.</exception>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public void WriteState(string path, Action<ReadOnlySpan<byte>> take, bool isIndented, CancellationToken stop = default)
    {
        ImagePath parsed = StatePaths.Parse(path);
        using ViewedImage image = Show(stop);
        StatePaths.Write(image.Bytes, null, parsed, take, isIndented);
    }

    /// <summary>Asks the app a query where it stands, and returns its answer as JSON, or how it has failed.</summary>
    /// <param name="text">As a person writes it: <c>NAME(ARGS)</c>.</param>
    /// <exception cref="MisuseException">There is no such query or argument, or no state to ask.</exception>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public string Query(string text, CancellationToken stop = default)
    {
        QueryCommand query = QueryCommand.Parse(text, _contracts);
        bool isBeforeFirstStart = _view.Begun == Lsn.Zero && !(_stop?.Place.Record.Value > PageHeader.Bytes);
        if (isBeforeFirstStart) Show(stop).Dispose(); // which refuses where there is no state yet
        ViewedAnswer answer = _view.Query(query.Method, query.Arguments, stop);
        return answer.Status == QueryStatus.Value ? query.TextOf(answer.Answer.Span)
            : $"failed: {MessageFormatter.Failure(answer.Answer.Span)}";
    }

    private string Stopped(ViewStop stop)
    {
        _stop = stop;
        return string.Create(CultureInfo.InvariantCulture,
            $"{LineOf(stop)}   {_view.Records:N0} records from {_view.Begun}, {_view.DigestsAgreed:N0} digests agree, {_time.Elapsed.TotalSeconds:N1} s");
    }

    private string LineOf(ViewStop stop) =>
        stop.IsEnd || _places.AtOrBehind(stop.Place) is not { IsEnd: false } next
            ? $"stopped at {stop.Place}, the end of the log" : $"stopped before {next}";

    private Lsn? CheckpointOf(string? asked)
    {
        if (asked is null) return null;
        CheckpointFileName[] names = [.. CheckpointDirectory.List(_log.Files, _log.Directory)];
        return names.Length > 0 ? CheckpointChoice.Find(names, asked).Lsn
            : throw new MisuseException("this log has no checkpoint", "it is executed from its beginning", "leave --checkpoint out");
    }

    public void Dispose() => _view.Dispose();
}
