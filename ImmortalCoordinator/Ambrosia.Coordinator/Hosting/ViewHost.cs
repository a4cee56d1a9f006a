using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using CRA.Catalog;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Runs a view in this process: the parts of a secondary on files that can only be read, without lock, claim, links, timers and
/// checkpoints, and the app, which stops where it is told to. It owns a directory of its own, in which lies what the view must write. One
/// thread looks: it asks for a place and waits until the app stands there.
/// </summary>
public sealed class ViewHost : IDisposable
{
    private static readonly TimeSpan s_followEvery = TimeSpan.FromMilliseconds(50);

    private readonly ViewOptions _options;
    private readonly ViewParts _parts;
    private readonly ViewStart _start;
    private readonly ViewInbox _inbox;
    private readonly LogFollower _follower;
    private readonly StoppingView _view;
    private readonly Coordinator _coordinator;
    private readonly CancellationTokenSource _over = new();
    private ViewApp? _app;

    /// <summary>The culture in which the log was executed; null: nothing says it.</summary>
    private string? _culture;

    /// <param name="files">The files of the system.</param>
    /// <param name="tell">Hears what the person who looks is to know: lines. Any thread calls it.</param>
    /// <exception cref="MisuseException">The directory is no log, or the app no program.</exception>
    /// <exception cref="LogDamage">The log's chain is damaged.</exception>
    public ViewHost(ViewOptions options, IFileSystem files, ILogger logger, Action<string> tell)
    {
        _options = options;
        if (options.App is [var program, ..] && AppPath.WhatIsWrong(program) is { } unknown) throw new MisuseException(unknown);
        _inbox = new ViewInbox(options.TellsDifferences ? tell : static _ => { });
        _view = new StoppingView(_inbox, options.Checkpoint, options.KeepsOutputs)
        {
            IsOfMaskedCut = LogCut.IsMasked(files, options.LogDirectory),
        };
        _parts = new ViewParts(new ViewedLog(options.LogDirectory, options.AppSocket), files, logger, _inbox.End, _view);
        (_follower, _coordinator) = (_parts.Reader, _parts.Coordinator);
        _start = new ViewStart(_parts.Location, _follower, options.Hold, tell);
        _inbox.SessionBegins = _start.Begins;
    }

    /// <summary>The parts that execute the log.</summary>
    internal Coordinator Parts => _coordinator;

    /// <summary>Everything below is stated as durable, and can be executed. Any thread.</summary>
    public Lsn End => _follower.Stated;

    /// <summary>
    /// So many positions of the log were compared, at which the app had emitted what the log says, by all sessions. Any thread.
    /// </summary>
    public long DigestsAgreed => _coordinator.Execution.Digests.Compared;

    /// <summary>
    /// The first stretch of the log in which the running session's app has done something else than the log says: up to the first place it
    /// agreed, and at the second it did not; null: none was found. Any thread.
    /// </summary>
    public (Lsn Agreed, Lsn Differed)? Diverged =>
        _coordinator.Execution.Digests.Diverged is { } stretch ? (stretch.From, stretch.To) : null;

    /// <summary>Everything below was compared with the log and is as it says. Any thread.</summary>
    public Lsn Confirmed => _coordinator.Execution.Digests.Confirmed;

    /// <summary>All that the app emits between two stops is kept for the second. Any thread.</summary>
    public bool KeepsEmissions { get => _view.KeepsEmissions; set => _view.KeepsEmissions = value; }

    /// <summary>The session that runs has begun with the checkpoint of this place, or the log's beginning. Any thread.</summary>
    public Lsn Begun => _inbox.Session.From;

    /// <summary>What the app has said of itself; null: none has come. Any thread.</summary>
    public AppHello? App => _inbox.App;

    /// <summary>So many records were given to the app by the session that runs. Any thread.</summary>
    public long Records => _coordinator.Execution.Delivery.Records;

    /// <summary>An app that is not started here finds its view by these variables.</summary>
    public IReadOnlyDictionary<string, string> Environment
    {
        get
        {
            Dictionary<string, string> variables = _parts.Environment;
            if (_culture is not null) variables[ViewApp.CultureVariable] = ViewApp.CultureValue(_culture);
            if (!_options.WaitsForDebugger) return variables;
            variables["AMBROSIA_WAIT_FOR_DEBUGGER"] = "1";
            // The developer reads the app's code, so it is compiled as it stands there, whichever way it was built.
            variables["DOTNET_JITMinOpts"] = "1";
            variables["DOTNET_ReadyToRun"] = "0";
            variables["DOTNET_TieredCompilation"] = "0";
            return variables;
        }
    }

    /// <summary>Returns what has executed the records right below a place when they were logged; null: nothing says it.</summary>
    public BuildRecord? BuildBelow(Lsn place) => _start.BuildBelow(place);

    private LookFlags Flags => (_options.BreaksInDebugger ? LookFlags.Break : 0) | (_options.MeasuresHandlers ? LookFlags.Times : 0);

    /// <summary>Starts the app. The first place is asked for behind this.</summary>
    /// <param name="toward">The app runs in the culture in which the records below were executed; null: in that of the log's end.</param>
    public void Start(Lsn? toward = null)
    {
        _culture = BuildBelow(toward ?? End)?.Culture;
        PumpThread.Start("follow", Follow, _inbox.End);
        _parts.Pump.Start();
        if (_options.App.Count == 0) return;
        _app = new ViewApp(
            _options.IsQuiet ? Quiet(_options.App) : _options.App, Environment, AppEnded, _inbox.End);
        _app.Start();
    }

    private static string[] Quiet(IReadOnlyList<string> app) =>
        ["sh", "-c", "exec \"$0\" \"$@\" >/dev/null 2>&1", AppPath.Find(app[0]), .. app.Skip(1)];

    /// <summary>Executes everything before a place, from an earlier checkpoint where the app is beyond it, and stops there.</summary>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public ViewStop To(MessagePlace place, CancellationToken stop = default)
    {
        _view.To(place, Flags);
        return AwaitStop(isAsked: true, stop);
    }

    /// <summary>Executes one message and stops before the next.</summary>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public ViewStop Next(CancellationToken stop = default)
    {
        _view.Next(Flags);
        return AwaitStop(isAsked: true, stop);
    }

    /// <summary>Waits for the next stop that nobody here has asked for: where a debugger's user has gone on.</summary>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public ViewStop AwaitStop(CancellationToken stop = default) => AwaitStop(isAsked: false, stop);

    /// <summary>Returns the stops that nobody here has asked for since it was asked last, and does not wait for any.</summary>
    public IReadOnlyList<ViewStop> StopsMeanwhile() => _inbox.TakeMeanwhile();

    private ViewStop AwaitStop(bool isAsked, CancellationToken stop)
    {
        ViewStop at = _inbox.AwaitStop(isAsked, stop);
        _start.TellPorts();
        return at;
    }

    /// <summary>Returns the image of the state where the app stands; whoever takes it disposes of it.</summary>
    /// <exception cref="MisuseException">There is no state there, or it cannot be written.</exception>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public ViewedImage Show(CancellationToken stop = default)
    {
        _view.Show();
        return _inbox.AwaitImage(stop);
    }

    /// <summary>Asks the app, which carries two versions, for its state as the later one has it.</summary>
    /// <exception cref="ViewEndedException">The view is over: the app may have died of it.</exception>
    public ConvertedFrame Convert(uint from, uint to, ConversionUse use, CancellationToken stop = default)
    {
        _view.Convert(from, to, use);
        return _inbox.AwaitConverted(stop);
    }

    /// <summary>Returns the image of the state as a later version has it, which the app carries; whoever takes it disposes of it.</summary>
    /// <exception cref="MisuseException">It cannot be converted.</exception>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public ViewedImage ShowConverted(uint from, uint to, CancellationToken stop = default)
    {
        _view.Convert(from, to, ConversionUse.Image);
        return _inbox.AwaitImage(stop);
    }

    /// <summary>Asks the app a query where it stands.</summary>
    /// <exception cref="ViewEndedException">The view is over.</exception>
    public ViewedAnswer Query(uint method, ReadOnlyMemory<byte> arguments, CancellationToken stop = default)
    {
        _view.Query(method, arguments);
        return _inbox.AwaitAnswer(stop);
    }

    /// <summary>
    /// Returns how many calls the app has made to each receiver that it or the log knows. It is asked while the app stands.
    /// </summary>
    public IReadOnlyDictionary<InstanceId, ulong> CallsMade() => _coordinator.Execution.CallsMade();

    /// <summary>
    /// Returns what those who were called have in their logs. It is asked while the app stands, and whoever takes it disposes of it.
    /// </summary>
    /// <param name="directoryOf">Where the log of an instance is; null: nobody knows.</param>
    public CallHistory OpenHistory(Func<InstanceId, string?> directoryOf) => _coordinator.OpenHistory(directoryOf);

    private void Follow()
    {
        while (!_over.IsCancellationRequested)
        {
            Lsn before = _follower.Stated;
            while (_follower.Step() && !_over.IsCancellationRequested) { }
            if (_follower.Stated != before) _coordinator.Followed();
            _start.Release(_coordinator.Execution.Delivery.ReleaseIfIdle);
            _over.Token.WaitHandle.WaitOne(s_followEvery);
        }
    }

    /// <summary>
    /// An app that could not begin with its checkpoint, since its build cannot continue what is suspended there, begins with an older one.
    /// </summary>
    private bool AppEnded(int code)
    {
        (Lsn from, bool hasStopped) = _inbox.Session;
        if (_over.IsCancellationRequested) return false;
        string why = _inbox.AwaitSessionEnd();
        if (code == ExitCodes.Misuse && !hasStopped && from > Lsn.Zero)
        {
            if (_start.BeginBelow(from, why) is { } hopeless)
            {
                _inbox.End(ExitCodes.Misuse, hopeless);
                return false;
            }
            _view.BeginBelow(from);
            return true;
        }
        _inbox.End(code == ExitCodes.Misuse ? ExitCodes.Misuse : ExitCodes.Io, $"the app has ended with code {code}; its own lines say why");
        return false;
    }

    /// <summary>An app that was not started here has ended, so that nobody waits for it any more. Any thread.</summary>
    public void EndedOutside(int code) => _inbox.End(ExitCodes.Io, $"the app has ended with code {code}; its own lines say why");

    public void Dispose()
    {
        _over.Cancel();
        _app?.Dispose();
        _parts.Dispose();
        _start.Dispose();
    }
}
