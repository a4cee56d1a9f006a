using System.Text;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Incidents;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Locking;
using Ambrosia.Pumps;

namespace Ambrosia;

/// <summary>
/// Runs one immortal of this process: its coordinator on one thread, and its app on another as soon as the channel is there. The two meet
/// over the unix socket as two processes would, so the channel is the same as there. Invariant: when one of the two ends, the process does.
/// </summary>
internal sealed class HostedImmortal
{
    private readonly CoordinatorOptions _options;
    private readonly ImmortalDefinition _definition;
    private readonly TextWriter _complaints;
    private readonly CoordinatorHost _coordinator;
    private readonly Thread _thread;
    private CancellationTokenSource? _stop;
    private int _code;

    /// <param name="isOneOfMany">Whether its lines begin with its name, because several immortals share the process.</param>
    internal HostedImmortal(CoordinatorOptions options, ImmortalDefinition definition, bool isOneOfMany)
    {
        _options = options with { NamesItsEvents = isOneOfMany };
        _definition = definition;
        _complaints = isOneOfMany ? new NamedLines(Console.Error, options.Instance) : Console.Error;
        var files = new PosixFileSystem();
        _coordinator = new CoordinatorHost(_options, files, Console.Out)
        {
            ChannelOpened = StartApp, ExplainsIncidents = new IncidentFinder(_options.LogDirectory, [], files, Command).Explain,
        };
        _thread = new Thread(RunCoordinator) { Name = $"coordinator {options.Instance}", IsBackground = true };
    }

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
            _complaints.WriteLine(misuse.Message);
            _code = ExitCodes.Misuse;
        }
        _stop!.Cancel();
        _coordinator.Dispose();
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
                _complaints.WriteLine, TimeProvider.System);
            ended = app.Run();
            wasPrimary = app.WasPrimary;
        }
        // A secondary that fell behind what the log still has is cut off, to begin again at a newer checkpoint.
        while (ended == AppHost.InputOutput && !wasPrimary && !_stop!.IsCancellationRequested);
        if (_stop!.IsCancellationRequested) return; // it ended because its coordinator does
        _coordinator.AppEnded(ended);
        _complaints.WriteLine($"The app has ended with code {ended}, and this process with it.");
        _coordinator.FlushEvents();
        Environment.Exit(ended);
    }
}

/// <summary>Writes whole lines, each behind an immortal's name, to a writer that several immortals share. Any thread may call it.</summary>
internal sealed class NamedLines(TextWriter to, string name) : TextWriter
{
    private static readonly RankedLock s_gate = new(LockRank.NamedLines);

    public override Encoding Encoding => to.Encoding;

    public override void WriteLine(string? value)
    {
        using (s_gate.Enter()) to.WriteLine($"{name}: {value}");
    }

    public override void Write(char value) => throw new NotSupportedException("whole lines only");

    public override void Flush() => to.Flush();
}
