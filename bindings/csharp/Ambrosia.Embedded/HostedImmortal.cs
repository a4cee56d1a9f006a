// One immortal of this process: its coordinator on a thread, its app on another as soon as the channel is there. They meet over the unix
// socket as two processes would, so that nothing about the road is special here. Invariant: when one of the two ends, the process does.
using Ambrosia.Coordinator;
using Ambrosia.Coordinator.Pumps;
using Ambrosia.Log;

namespace Ambrosia;

internal sealed class HostedImmortal
{
    private readonly CoordinatorOptions options;
    private readonly ImmortalDefinition definition;
    private readonly TextWriter lines, complaints;
    private readonly CoordinatorHost coordinator;
    private readonly Thread thread;
    private CancellationTokenSource? stop;
    private int code;

    /// <param name="isOneOfMany">Its lines begin with its name.</param>
    internal HostedImmortal(CoordinatorOptions options, ImmortalDefinition definition, bool isOneOfMany)
    {
        this.options = options;
        this.definition = definition;
        lines = isOneOfMany && !options.Json ? new NamedLines(Console.Out, options.Instance) : Console.Out;
        complaints = isOneOfMany ? new NamedLines(Console.Error, options.Instance) : Console.Error;
        coordinator = new CoordinatorHost(options, new PosixFileSystem(), lines) { ChannelOpened = StartApp };
        thread = new Thread(RunCoordinator) { Name = $"coordinator {options.Instance}", IsBackground = true };
    }

    /// <summary>Begins; the end of one cancels <paramref name="stop"/>, and its cancellation ends this one.</summary>
    internal void Start(CancellationTokenSource stop)
    {
        this.stop = stop;
        thread.Start();
    }

    internal int AwaitEnd()
    {
        thread.Join();
        return code;
    }

    private void RunCoordinator()
    {
        try
        {
            code = coordinator.Run(stop!.Token);
        }
        catch (MisuseException misuse)
        {
            complaints.WriteLine(misuse.Message);
            code = ExitCodes.Misuse;
        }
        stop!.Cancel();
        coordinator.Dispose();
    }

    private void StartApp(IReadOnlyDictionary<string, string> channel) =>
        new Thread(() => RunApp(channel)) { Name = $"app {options.Instance}", IsBackground = true }.Start();

    /// <summary>The thread that runs all handlers.</summary>
    private void RunApp(IReadOnlyDictionary<string, string> channel)
    {
        int ended;
        bool wasPrimary;
        do
        {
            var app = new AppHost(
                definition, AwaitCheck.Faults, name => channel.GetValueOrDefault(name) ?? Environment.GetEnvironmentVariable(name),
                complaints.WriteLine, TimeProvider.System);
            ended = app.Run();
            wasPrimary = app.WasPrimary;
        }
        // A secondary that fell behind what the log still has is cut off, to begin again at a newer checkpoint.
        while (ended == AppHost.InputOutput && !wasPrimary && !stop!.IsCancellationRequested);
        if (stop!.IsCancellationRequested) return; // it ended because its coordinator does
        complaints.WriteLine($"The app has ended with code {ended}, and this process with it.");
        lines.Flush();
        Environment.Exit(ended);
    }
}
