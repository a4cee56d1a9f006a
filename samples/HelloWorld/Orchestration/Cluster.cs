using System.Threading.Channels;

namespace HelloWorld.Orchestration;

/// <summary>
/// Runs the two immortals, which are four processes: starts them, kills them when it is told to, and starts again what was killed. Only the
/// thread of the run uses it.
/// </summary>
internal sealed class Cluster : IDisposable
{
    private readonly Channel<ProcessEvent> _events = Channel.CreateUnbounded<ProcessEvent>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Dictionary<KillTarget, int> _kills = [];

    public Cluster(string logDirectory)
    {
        Client = new InstanceProcesses("client", Path.Combine(logDirectory, "client"), _events.Writer);
        Server = new InstanceProcesses("server", Path.Combine(logDirectory, "server"), _events.Writer);
    }

    public InstanceProcesses Client { get; }

    public InstanceProcesses Server { get; }

    /// <summary>The reason why the run cannot go on, or null while it can.</summary>
    public string? Failure { get; private set; }

    public IReadOnlyList<ProcessStatus> Processes =>
    [
        new("client app", Client.AppId, KillsOf(KillTarget.ClientApp)),
        new("client coordinator", Client.CoordinatorId, KillsOf(KillTarget.ClientCoordinator)),
        new("server app", Server.AppId, KillsOf(KillTarget.ServerApp)),
        new("server coordinator", Server.CoordinatorId, KillsOf(KillTarget.ServerCoordinator)),
    ];

    public void Start()
    {
        Client.Start();
        Server.Start();
    }

    /// <summary>True if the process is there to be killed, and not still being started.</summary>
    public bool CanKill(KillTarget target) =>
        (!target.HasFlag(KillTarget.ClientApp) || Client.AppId != 0) && (!target.HasFlag(KillTarget.ServerApp) || Server.AppId != 0)
        && (!target.HasFlag(KillTarget.ClientCoordinator) || Client.CoordinatorId != 0)
        && (!target.HasFlag(KillTarget.ServerCoordinator) || Server.CoordinatorId != 0);

    public void Kill(KillTarget target)
    {
        foreach (KillTarget one in new[] { KillTarget.ClientApp, KillTarget.ClientCoordinator, KillTarget.ServerApp,
            KillTarget.ServerCoordinator })
            if (target.HasFlag(one)) _kills[one] = KillsOf(one) + 1;
        if (target.HasFlag(KillTarget.ClientApp)) Client.KillApp();
        if (target.HasFlag(KillTarget.ClientCoordinator)) Client.KillCoordinator();
        if (target.HasFlag(KillTarget.ServerApp)) Server.KillApp();
        if (target.HasFlag(KillTarget.ServerCoordinator)) Server.KillCoordinator();
    }

    /// <summary>
    /// Waits for a moment at most, then gives every line that has come to <paramref name="take"/> and restarts what was killed.
    /// </summary>
    public void Work(TimeSpan atMost, CancellationToken stop, Action<string> take)
    {
        WaitForEvent(atMost, stop);
        while (_events.Reader.TryRead(out ProcessEvent? happened))
        {
            if (!happened.Of.Take(happened)) continue;
            if (happened.Line is { } line) take(line);
            if (happened.ExitCode is { } code) CoordinatorEnded(happened.Of, code);
        }
    }

    public void Dispose()
    {
        Client.Dispose();
        Server.Dispose();
    }

    private void CoordinatorEnded(InstanceProcesses side, int code)
    {
        // Killing it makes this 0 first.
        if (side.CoordinatorId != 0) Failure = $"the coordinator of {side.Name} ended by itself with code {code}";
        else side.Restart();
    }

    private void WaitForEvent(TimeSpan atMost, CancellationToken stop)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop);
        limit.CancelAfter(atMost);
        try
        {
            _events.Reader.WaitToReadAsync(limit.Token).AsTask().GetAwaiter().GetResult();
        }
        catch (OperationCanceledException)
        {
            // Nothing came, or the user stops the run, which the run sees itself.
        }
    }

    private int KillsOf(KillTarget one) => _kills.GetValueOrDefault(one);
}
