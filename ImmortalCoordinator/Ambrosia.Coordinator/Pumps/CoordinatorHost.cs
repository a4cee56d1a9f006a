using System.Diagnostics;
using System.Security.Cryptography;
using Ambrosia.Log;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// One coordinator process from its start to its end: finds or makes the instance, waits until it may be primary, takes the log over,
/// and runs the pumps over the parts. The only place that knows all threads.
/// </summary>
public sealed class CoordinatorHost : IDisposable
{
    private readonly CoordinatorOptions options;
    private readonly IFileSystem files;
    private readonly OperatorLog lines;
    private readonly CommitPump commits;
    private readonly AdminCommands commands = new();
    private readonly ManualResetEventSlim ended = new(false);
    private readonly List<IDisposable> owned = [];
    private readonly long begun = Stopwatch.GetTimestamp();
    private CheckpointPump? checkpoints;
    private LinkPump? links;
    private AdminPump? admin;
    private Coordinator? coordinator;
    private AppSupervisor? supervisor;
    private bool isOpen;

    // Why the entry could not be published the last time; null: it was.
    private string? catalogTrouble;
    private int exitCode = -1;

    public CoordinatorHost(CoordinatorOptions options, IFileSystem files, TextWriter output)
    {
        this.options = options;
        this.files = files;
        lines = new OperatorLog(output, options.Json);
        commits = new CommitPump(Fail);
        CrashSwitch.ArmFromEnvironment();
    }

    /// <summary>Runs until the end; returns the exit code.</summary>
    /// <exception cref="MisuseException">What was asked for cannot be done: exit 2, nothing was made.</exception>
    public int Run(CancellationToken stop)
    {
        try
        {
            Start(stop);
            ended.Wait(stop);
        }
        catch (OperationCanceledException)
        {
            Stop();
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            Fail(code, fatal.Message);
        }
        catch (ProtocolViolation damage)
        {
            Fail(ExitCodes.Damage, damage.Message);
        }
        return Math.Max(exitCode, 0);
    }

    private void Start(CancellationToken stop)
    {
        var catalog = new DirectoryCatalog(
            new CatalogFiles(files, options.CatalogDirectory, $"{options.Instance}.{options.Replica}.{System.Environment.ProcessId}"),
            RandomNumberGenerator.Fill, lines.Say);
        InstanceIdentity identity = new InstanceStart(options, files, catalog, lines.Say).FindOrCreate();
        commands.Set("status", _ => new AdminAnswer(StatusReport.OfWaiting(identity, options.Replica)));
        OpenAdmin(isPrimary: false);
        ClaimResult.Claimed claim = AwaitClaim(identity, stop);
        OpenAdmin(isPrimary: true);
        OpenLog log = TakeOver.Run(files, options.LogDirectory, identity, claim.Fence, options.Replica, options.Log, TimeProvider.System, Crash.Points);
        if (log.Tail is ReadVerdict.Cut cut) lines.Say(cut.ToString());

        AppEndpoint endpoint = AppEndpoint.Open(files, options);
        owned.Add(endpoint);
        coordinator = new Coordinator(new CoordinatorInputs(
            options, identity, claim.Fence, claim.PrimaryLock, log, files, endpoint.Token, TimeProvider.System, Random.Shared.NextDouble,
            new ThreadPumps(this)));
        coordinator.Recover();
        coordinator.AddCommands(commands);
        StartPumps(catalog, identity, endpoint);
    }

    /// <summary>Lets operators ask. One that waits leaves the place to a living process of the same replica.</summary>
    private void OpenAdmin(bool isPrimary)
    {
        if (admin is not null) return;
        try
        {
            if (AdminEndpoint.TryOpen(files, options.LogDirectory, options.Replica, evenIfTaken: isPrimary) is not { } endpoint) return;
            admin = new AdminPump(endpoint, commands, lines.Say);
        }
        catch (System.Net.Sockets.SocketException e)
        {
            lines.Say($"no admin socket: {e.Message}. The replica runs without; tools cannot ask it.");
            return;
        }
        owned.Add(admin);
        admin.Start();
    }

    private ClaimResult.Claimed AwaitClaim(InstanceIdentity identity, CancellationToken stop)
    {
        while (true)
        {
            ClaimResult result = PrimaryClaim.Try(files, options.LogDirectory, identity, options.Replica, Crash.Points);
            if (result is ClaimResult.Claimed claimed) return claimed;
            if (result is not ClaimResult.Held held) continue;
            lines.Say($"another coordinator is primary of {identity.Name} ({held.LockPath}); waiting for it to end");
            files.WaitForLock(held.LockPath, stop)?.Dispose();
            stop.ThrowIfCancellationRequested();
        }
    }

    private void StartPumps(DirectoryCatalog catalog, InstanceIdentity identity, AppEndpoint endpoint)
    {
        Coordinator parts = coordinator!;
        commits.Start(parts.Committer);
        checkpoints = new CheckpointPump(parts.Checkpoints, Fail);
        checkpoints.Start();
        links = new LinkPump(parts, catalog, new LinkSettings(catalog.Secret, TimeProvider.System, RandomNumberGenerator.Fill), lines.Say);
        InstanceStart.Listening(() => links.Listen(options.Listen));
        parts.Primary += session =>
        {
            Publish(catalog, identity, parts);
            Crash.Hit("takeover.beforeConnect");
            if (!isOpen) links.Start();
            isOpen = true;
            lines.Ready(identity.Name, parts.Epoch.Value, parts.Delivered, Stopwatch.GetElapsedTime(begun), links.Address, endpoint.Address);
        };
        var app = new AppPump(parts, endpoint.Listener, commits.WaitForRoom, Fail, lines.Say);
        var background = new BackgroundPump(parts, () => { if (parts.IsPrimary) Publish(catalog, identity, parts); }, Fail);
        owned.InsertRange(0, [app, background, checkpoints, links, commits]); // the pumps end before what they pump
        app.Start();
        background.Start();
        lines.Say($"epoch {parts.Epoch}: log open at {parts.Log.Durable}, app channel {endpoint.Address}, token {endpoint.TokenPath}");
        if (options.App.Count == 0) return;
        supervisor = new AppSupervisor(options.App, endpoint.Environment, () => parts.Executed, lines.Say, Fail);
        owned.Insert(0, supervisor);
        supervisor.Start();
    }

    private void Publish(DirectoryCatalog catalog, InstanceIdentity identity, Coordinator parts)
    {
        Crash.Hit("catalog.beforePublish");
        var replica = new ReplicaEntry(options.Replica, links!.Address, "primary", parts.Epoch);
        var entry = new CatalogEntry(parts.Self, identity.Uuid, options.LogDirectory, parts.Epoch, [replica]);
        try
        {
            switch (catalog.Publish(entry))
            {
                case PublishAnswer.NameTaken: Fail(ExitCodes.Misuse, InstanceStart.NameTaken(identity, catalog.Find(parts.Self))); break;
                case PublishAnswer.Outdated: Fail(ExitCodes.NotPrimary, $"the catalog has a higher epoch of {parts.Self} than {parts.Epoch}: another coordinator is its primary, or this log is an old copy"); break;
                case PublishAnswer.Published: catalogTrouble = null; break;
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Links that are open need no catalog: the next heartbeat tries again.
            if (catalogTrouble != e.Message) lines.Say($"catalog: the entry of {parts.Self} cannot be published, so that peers may not find it; tried again: {e.Message}");
            catalogTrouble = e.Message;
        }
    }

    /// <summary>A clean end: a checkpoint if one comes soon, else the log is left with a durable mark; peers are not waited for.</summary>
    private void Stop()
    {
        lines.Say("stopping");
        supervisor?.StartNoMore();
        if (coordinator is { } parts)
        {
            var patience = Stopwatch.StartNew();
            if (parts.IsPrimary && parts.Session is { IsPrimary: true })
            {
                parts.RequestCheckpoint();
                while (parts.IsCheckpointDue && patience.Elapsed < TimeSpan.FromSeconds(5)) Thread.Sleep(5);
            }
            while (parts.Log.MarkDue && patience.Elapsed < TimeSpan.FromSeconds(6))
            {
                if (parts.Log.AppendMark()) commits.Commit(drained: true);
                Thread.Sleep(1);
            }
        }
        End(ExitCodes.Ok);
    }

    private void Fail(int code, string why)
    {
        lines.Failure(code, why);
        End(code);
        ProcessExit.Now(code);
    }

    private void End(int code)
    {
        Interlocked.CompareExchange(ref exitCode, code, -1);
        ended.Set();
    }

    public void Dispose()
    {
        foreach (IDisposable part in owned) part.Dispose();
        owned.Clear();
    }

    /// <summary>What the parts ask for, in threads.</summary>
    private sealed class ThreadPumps(CoordinatorHost host) : IPumps
    {
        public void Commit(bool drained) => host.commits.Commit(drained);

        public void WaitForRoom(CancellationToken stop) => host.commits.WaitForRoom(stop);

        public void CheckpointWork() => host.checkpoints?.Wake();

        public void RoomForApp() => host.commits.MadeRoom();

        public void Dial() => host.links?.Wake();

        public void Fail(int code, string why) => host.Fail(code, why);

        public void Say(string line) => host.lines.Say(line);
    }
}
