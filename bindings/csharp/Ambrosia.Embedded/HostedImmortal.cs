using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Incidents;
using Ambrosia.Log.Files;
using Ambrosia.Pumps;
using Ambrosia.Session;
using Ambrosia.Tasks;
using Microsoft.Extensions.Logging;

namespace Ambrosia;

/// <summary>
/// Runs one immortal of this process: its coordinator on one thread, and its app on another as soon as the channel is there. The two meet
/// over the unix socket as two processes would, so the channel is the same as there. Invariant: when one of the two ends, the process does.
/// </summary>
internal sealed class HostedImmortal
{
    private readonly CoordinatorOptions _options;
    private readonly ImmortalDefinition _definition;
    private readonly Action<string> _complain;
    private readonly CoordinatorHost _coordinator;
    private readonly Thread _thread;
    private readonly HostSurroundings? _host;
    private CancellationTokenSource? _stop;
    private int _code;

    /// <summary>The app that runs, or ran last; null: none has begun.</summary>
    private volatile AppHost? _app;

    /// <param name="isOneOfMany">Whether its lines begin with its name, because several immortals share the process.</param>
    internal HostedImmortal(CoordinatorOptions options, ImmortalDefinition definition, bool isOneOfMany)
        : this(options with { NamesItsEvents = isOneOfMany }, definition,
            isOneOfMany ? text => WholeLines.OfErrors.Write($"{options.Instance}: {text}") : WholeLines.OfErrors.Write, null,
            new PosixFileSystem())
    {
    }

    /// <summary>Makes one that a host holds, which gets its events and its end.</summary>
    /// <param name="files">The files of the system.</param>
    internal HostedImmortal(CoordinatorOptions options, ImmortalDefinition definition, HostSurroundings host, IFileSystem files)
        : this(options, definition, host.Complain, host, files)
    {
    }

    private HostedImmortal(
        CoordinatorOptions options, ImmortalDefinition definition, Action<string> complain, HostSurroundings? host, IFileSystem files)
    {
        (_options, _definition, _complain, _host) = (options, definition, complain, host);
        IncidentExplainer explains = new IncidentFinder(_options.LogDirectory, [], files, Command).Explain;
        _coordinator = host is null
            ? new CoordinatorHost(_options, files, Console.Out) { ChannelOpened = StartApp, ExplainsIncidents = explains }
            : new CoordinatorHost(_options, files, host.Events)
            {
                ChannelOpened = StartApp, ExplainsIncidents = explains, Exiting = host.Exiting,
            };
        _thread = new Thread(RunCoordinator) { Name = $"coordinator {options.Instance}", IsBackground = true };
    }

    /// <summary>The coordinator, which may be asked how it is.</summary>
    internal CoordinatorHost Coordinator => _coordinator;

    internal CoordinatorOptions Options => _options;

    /// <summary>What the immortal waits for; null: it has not begun. Any thread.</summary>
    internal WaitingWork? Waiting => _app?.Session?.Waiting;

    /// <summary>
    /// Starts the coordinator. The end of any immortal cancels <paramref name="stop"/>, and its cancellation ends this one.
    /// </summary>
    internal void Start(CancellationTokenSource stop)
    {
        _stop = stop;
        _thread.Start();
    }

    /// <summary>Waits until the coordinator has ended and returns its exit code.</summary>
    internal int AwaitEnd()
    {
        _thread.Join();
        return _code;
    }

    private void RunCoordinator()
    {
        try
        {
            _code = _coordinator.Run(_stop!.Token);
        }
        catch (MisuseException misuse)
        {
            _complain(misuse.Message);
            _code = ExitCodes.Misuse;
        }
        bool wasAsked = _stop!.IsCancellationRequested;
        _stop.Cancel();
        _coordinator.Dispose();
        _host?.Ended(_code, wasAsked);
    }

    private void StartApp(IReadOnlyDictionary<string, string> channel) =>
        new Thread(() => RunApp(channel)) { Name = $"app {_options.Instance}", IsBackground = true }.Start();

    /// <summary>Returns the line of a test, or of Main, that stops before a place.</summary>
    private string Command(string place) =>
        $"{nameof(AmbrosiaHost)}.{nameof(AmbrosiaHost.Debug)}<{_definition.Type.Name}>(\"{Path.GetFullPath(_options.LogDirectory)}\", \"{place}\")";

    /// <summary>Runs the app on its thread, which runs all handlers.</summary>
    private void RunApp(IReadOnlyDictionary<string, string> channel)
    {
        int ended;
        bool wasPrimary;
        do
        {
            var app = new AppHost(
                _definition, AwaitCheck.Faults, name => channel.GetValueOrDefault(name) ?? Environment.GetEnvironmentVariable(name),
                _complain, TimeProvider.System)
            {
                Services = _host?.Services, LinesOfImmortal = _host?.LinesOfImmortal,
            };
            _app = app;
            ended = app.Run();
            wasPrimary = app.WasPrimary;
        }
        // A secondary that fell behind what the log still has is cut off, to begin again at a newer checkpoint.
        while (ended == AppHost.InputOutput && !wasPrimary && !_stop!.IsCancellationRequested);
        if (_stop!.IsCancellationRequested) return; // it ended because its coordinator does
        _complain($"The app has ended with code {ended}, and this process with it.");
        ended = _coordinator.AppEnded(ended);
        _coordinator.FlushEvents();
        if (_host is null) Environment.Exit(ended);
        else _host.Ended(ended, false);
    }
}

/// <summary>What a host gives to an immortal that it holds, and hears of it.</summary>
/// <param name="Events">Takes the events of the coordinator; no call of it blocks or throws.</param>
/// <param name="Complain">Takes lines for people: why something cannot be.</param>
/// <param name="Services">For the app's code outside of handlers.</param>
/// <param name="LinesOfImmortal">Takes what the immortal writes to its <c>Logger</c>.</param>
/// <param name="Ended">Hears with which exit code the coordinator or the app has ended; true: it was asked to.</param>
/// <param name="Exiting">Hears with which exit code the coordinator ends the process at once, and why.</param>
internal sealed record HostSurroundings(
    ILogger Events, Action<string> Complain, HostServices Services, Action<ImmortalLogLevel, string> LinesOfImmortal,
    Action<int, bool> Ended, Action<int, string> Exiting);
