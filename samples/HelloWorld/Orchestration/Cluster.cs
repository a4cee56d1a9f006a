// The two immortals of a run, four processes: starts them, kills them as told, and starts again what was killed. Thread: the run's.
using System.Threading.Channels;

namespace HelloWorld.Orchestration;

internal sealed class Cluster : IDisposable
{
    private readonly Channel<SideEvent> events = Channel.CreateUnbounded<SideEvent>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Dictionary<KillTarget, int> kills = [];

    public Cluster(string logDirectory)
    {
        Client = new Side("client", Path.Combine(logDirectory, "client"), events.Writer);
        Server = new Side("server", Path.Combine(logDirectory, "server"), events.Writer);
    }

    public Side Client { get; }

    public Side Server { get; }

    /// <summary>Why the run cannot go on; null: it can.</summary>
    public string? Failure { get; private set; }

    public IReadOnlyList<ProcessFigures> Processes =>
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

    /// <summary>The process is there to be killed; false: it is still being started.</summary>
    public bool CanKill(KillTarget target) =>
        (!target.HasFlag(KillTarget.ClientApp) || Client.AppId != 0) && (!target.HasFlag(KillTarget.ServerApp) || Server.AppId != 0)
        && (!target.HasFlag(KillTarget.ClientCoordinator) || Client.CoordinatorId != 0)
        && (!target.HasFlag(KillTarget.ServerCoordinator) || Server.CoordinatorId != 0);

    public void Kill(KillTarget target)
    {
        foreach (KillTarget one in new[] { KillTarget.ClientApp, KillTarget.ClientCoordinator, KillTarget.ServerApp,
            KillTarget.ServerCoordinator })
            if (target.HasFlag(one)) kills[one] = KillsOf(one) + 1;
        if (target.HasFlag(KillTarget.ClientApp)) Client.KillApp();
        if (target.HasFlag(KillTarget.ClientCoordinator)) Client.KillCoordinator();
        if (target.HasFlag(KillTarget.ServerApp)) Server.KillApp();
        if (target.HasFlag(KillTarget.ServerCoordinator)) Server.KillCoordinator();
    }

    /// <summary>
    /// Waits for a moment at most, then hands every line that has come to <paramref name="take"/> and restarts who was killed.
    /// </summary>
    public void Work(TimeSpan atMost, CancellationToken stop, Action<string> take)
    {
        WaitForEvent(atMost, stop);
        while (events.Reader.TryRead(out SideEvent? happened))
        {
            if (!happened.Side.Take(happened)) continue;
            if (happened.Line is { } line) take(line);
            if (happened.ExitCode is { } code) CoordinatorEnded(happened.Side, code);
        }
    }

    public void Dispose()
    {
        Client.Dispose();
        Server.Dispose();
    }

    private void CoordinatorEnded(Side side, int code)
    {
        // Whoever kills it makes this 0.
        if (side.CoordinatorId != 0) Failure = $"the coordinator of {side.Name} ended by itself with code {code}";
        else side.Restart();
    }

    private void WaitForEvent(TimeSpan atMost, CancellationToken stop)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop);
        limit.CancelAfter(atMost);
        try
        {
            events.Reader.WaitToReadAsync(limit.Token).AsTask().GetAwaiter().GetResult();
        }
        catch (OperationCanceledException)
        {
            // Nothing came, or the user stops the run, which the run sees itself.
        }
    }

    private int KillsOf(KillTarget one) => kills.GetValueOrDefault(one);
}
