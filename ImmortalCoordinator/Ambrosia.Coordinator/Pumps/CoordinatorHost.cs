using System.Diagnostics;
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
    /// <summary>How long a replica of the same name may still be there before it is believed.</summary>
    private static readonly TimeSpan nameMax = TimeSpan.FromSeconds(3);

    private readonly CoordinatorOptions options;
    private readonly IFileSystem files;
    private readonly OperatorLog lines;
    private readonly CommitPump commits;
    private readonly AdminCommands commands = new();
    private readonly ManualResetEventSlim ended = new(false);
    private readonly CancellationTokenSource retired = new();
    private readonly List<IDisposable> owned = [];
    private long begun = Stopwatch.GetTimestamp();
    private CheckpointPump? checkpoints;
    private LinkPump? links;
    private CertificateFiles? certificates;
    private TimerPump? timers;
    private OutputPump? outputs;
    private Coordinator? coordinator;
    private AppSupervisor? supervisor;
    private StandbyPump? standby;
    private Standby? rules;
    private AppPump? app;
    private CoordinatorInputs? made;
    private DirectoryCatalog? places;
    private ReplicaLock? name;
    private int isLookingAgain;
    private bool isOpen;

    // Why the entry could not be published the last time; null: it was.
    private string? catalogTrouble;

    /// <summary>The other replicas as they were published last.</summary>
    private IReadOnlyList<ReplicaAddress> others = [];
    private int exitCode = -1;

    // Of the epoch that this process has claimed; null before.
    private Fence? fence;

    public CoordinatorHost(CoordinatorOptions options, IFileSystem files, TextWriter output)
    {
        this.options = options;
        this.files = options.UnsafeNoFlush ? new UnflushedFiles(files) : files;
        lines = new OperatorLog(output, options.Json);
        commits = new CommitPump(Fail);
        CrashSwitch.ArmFromEnvironment();
    }

    /// <summary>The app may come now, with these in its environment; for one that is in this process.</summary>
    public Action<IReadOnlyDictionary<string, string>>? ChannelOpened { get; init; }

    /// <summary>Runs until the end; returns the exit code.</summary>
    /// <exception cref="MisuseException">What was asked for cannot be done: exit 2, nothing was made.</exception>
    public int Run(CancellationToken stop)
    {
        using CancellationTokenSource asked = CancellationTokenSource.CreateLinkedTokenSource(stop, retired.Token);
        try
        {
            Start(asked.Token);
            ended.Wait(asked.Token);
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
        if (options.UnsafeNoFlush)
            lines.Say(
                "UNSAFE: nothing is flushed (--unsafe-no-flush). A machine that stops loses what was acknowledged. For measurements only.");
        var catalog = new DirectoryCatalog(
            new CatalogFiles(files, options.CatalogDirectory, $"{options.Instance}.{options.Replica}.{System.Environment.ProcessId}"),
            SystemRandom.Fill, lines.Say);
        if (options.Log.WriteMode == LogWriteMode.Direct && !DirectWrites.ArePossible(files, options.LogDirectory))
            throw new MisuseException(
                $"the file system of {options.LogDirectory} cannot be written past the page cache; give --log-write auto, or another directory");
        certificates = options.TlsCertificate is null ? null : new CertificateFiles(options, files, TimeProvider.System, lines.Say);
        InstanceIdentity identity = new InstanceStart(options, files, catalog, certificates, lines.Say).FindOrCreate();
        owned.Add(name = TakeName(stop));
        commands.Set("status", _ => new AdminAnswer(StatusReport.OfWaiting(identity, options.Replica)));
        // Whoever has the replica's name serves its operators: in the place of one that may still answer, since that one is about to end.
        var admin = new AdminPump(() => AdminEndpoint.TryOpen(files, options.LogDirectory, options.Replica, evenIfTaken: true),
            commands, lines.Say);
        owned.Add(admin);
        admin.Start();
        var standby = rules = new Standby(files, identity, options);
        places = catalog;
        var follower = new LogFollower(files, options.LogDirectory, identity);
        ClaimResult? claim = ClaimOrFollow(standby, follower, stop);

        AppEndpoint endpoint = AppEndpoint.Open(files, options);
        owned.Add(endpoint);
        CoordinatorInputs inputs = made = new(
            options, identity, files, endpoint.Token, TimeProvider.System, Random.Shared.NextDouble, new ThreadPumps(this));
        if (claim is ClaimResult.Claimed claimed)
        {
            coordinator = new Coordinator(inputs, new Leadership(claimed.Fence, claimed.PrimaryLock, TakeLogOver(identity, claimed.Fence)));
            follower.Dispose();
            commits.Start(coordinator.Committer);
        }
        else coordinator = new Coordinator(inputs, follower);
        coordinator.AddCommands(commands);
        AddCommands(coordinator);
        admin.AwaitOpen();
        StartPumps(catalog, identity, endpoint);
        if (!coordinator.HasLog) StartStandby(standby, follower, identity);
    }

    /// <summary>
    /// One replica of a name at a time. Whoever looks who is there holds a name for a moment, and a killed process for a little longer.
    /// </summary>
    private ReplicaLock TakeName(CancellationToken stop)
    {
        long begin = Stopwatch.GetTimestamp();
        while (true)
        {
            if (ReplicaLock.TryTake(files, options.LogDirectory, options.Replica) is { } taken) return taken;
            if (Stopwatch.GetElapsedTime(begin) > nameMax)
                throw new MisuseException(
                    $"a replica '{options.Replica}' of '{options.Instance}' runs on {options.LogDirectory} already. Give this one another name with --replica.");
            stop.WaitHandle.WaitOne(10);
            stop.ThrowIfCancellationRequested();
        }
    }

    /// <summary>Until the epoch is ours, or the log of another primary can be followed: then the answer is null.</summary>
    private ClaimResult.Claimed? ClaimOrFollow(Standby standby, LogFollower follower, CancellationToken stop)
    {
        for (bool said = false; ; said = true)
        {
            ClaimResult? result = standby.Try();
            if (result is ClaimResult.Claimed claimed) return claimed;
            if (result is not ClaimResult.Held held) continue;
            if (!said)
                lines.Say(
                    $"another coordinator is primary of {options.Instance} ({held.LockPath}); this one follows as replica {options.Replica}");
            while (follower.Step()) stop.ThrowIfCancellationRequested();
            if (follower.DigestEvery is not null) return null;
            stop.WaitHandle.WaitOne(10); // its first segment is on its way
            stop.ThrowIfCancellationRequested();
        }
    }

    private OpenLog TakeLogOver(InstanceIdentity identity, Fence fence, LogFollower? follower = null, PromotionSpare? spare = null)
    {
        this.fence = fence;
        OpenLog log = TakeOver.Run(
            files, options.LogDirectory, identity, fence, options.Replica, options.Log, TimeProvider.System, Crash.Points, follower, spare);
        if (log.Tail is ReadVerdict.Cut cut) lines.Say(cut.ToString());
        return log;
    }

    private void StartStandby(Standby rules, LogFollower follower, InstanceIdentity identity)
    {
        standby = new StandbyPump(
            rules, follower, files, coordinator!,
            epoch => PromotionSpare.Create(files, options.LogDirectory, options.Replica, epoch, options.Log),
            (fence, spare) => TakeLogOver(identity, fence, follower, spare), Lead, TakeQueries, lines.Say, Fail);
        owned.Insert(0, standby);
        standby.Start();
    }

    /// <summary>A secondary that has caught up answers queries; the primary finds its address and tells the catalog.</summary>
    private void TakeQueries()
    {
        links!.Accept();
        name!.StateAddress(links.Address);
    }

    /// <summary>Commands about the role of this process.</summary>
    private void AddCommands(Coordinator parts)
    {
        commands.Set("promote", _ => PromoteCommand.Begin(
            parts.HasLog, () => parts.Lag, () => parts.IsPrimary ? parts.Epoch : null,
            () => new Thread(() => standby?.Promote()) { Name = "promote", IsBackground = true }.Start()));
        commands.Set("retire", request => RetireCommand.Begin(
            request, parts.HasLog, [.. ReplicaLock.Present(files, options.LogDirectory).Where(name => name != options.Replica)],
            retired.Cancel));
    }

    private void Lead(Leadership leadership)
    {
        begun = Stopwatch.GetTimestamp();
        coordinator!.Lead(leadership);
        commits.Start(coordinator.Committer);
        lines.Say($"epoch {coordinator.Epoch}: took the log over at {coordinator.Log.Durable}");
    }

    private void StartPumps(DirectoryCatalog catalog, InstanceIdentity identity, AppEndpoint endpoint)
    {
        Coordinator parts = coordinator!;
        checkpoints = new CheckpointPump(parts.Checkpoints, parts.CompareStates, Fail);
        checkpoints.Start();
        var security = new LinkSettings(catalog.Secret, TimeProvider.System, SystemRandom.Fill)
        {
            Insecure = options.Insecure,
            Certificates = certificates is { } inForce ? () => inForce.Current : null,
        };
        links = new LinkPump(parts, catalog, security, lines.Say);
        InstanceStart.Listening(() => links.Listen(options.Listen, options.Advertise));
        parts.Primary += session =>
        {
            PublishNews(catalog, identity, parts, anyhow: true);
            Crash.Hit("takeover.beforeConnect");
            if (!isOpen) links.Start();
            isOpen = true;
            lines.Ready(identity.Name, parts.Epoch.Value, parts.Delivered, Stopwatch.GetElapsedTime(begun), links.Address,
                endpoint.Address);
        };
        app = new AppPump(parts, endpoint, commits.WaitForRoom, Fail, lines.Say);
        var background = new BackgroundPump(parts, anyhow => PublishNews(catalog, identity, parts, anyhow),
            () => commits.Commit(drained: false), Fail, lines.Say,
            ChannelOpened is null ? new GarbageBound() : null);
        commits.SpaceWanted = background.PrepareSpaceNow;
        commits.Stirred = background.Stir;
        timers = new TimerPump(parts, Fail);
        outputs = new OutputPump(parts, Fail);
        owned.InsertRange(0, [app, timers, outputs, background, checkpoints, links, commits]); // the pumps end before what they pump
        app.Start();
        background.Start();
        timers.Start();
        lines.Say($"epoch {parts.Epoch}: log open at {parts.Durable}, app channel {endpoint.Address}, token {endpoint.TokenPath}");
        ChannelOpened?.Invoke(endpoint.Environment);
        if (options.App.Count == 0) return;
        supervisor = new AppSupervisor(options.App, endpoint.Environment, () => parts.Executed, lines.Say, Fail);
        owned.Insert(0, supervisor);
        supervisor.Start();
    }

    /// <param name="anyhow">Also if no replica has come or gone.</param>
    private void PublishNews(DirectoryCatalog catalog, InstanceIdentity identity, Coordinator parts, bool anyhow)
    {
        if (!parts.IsPrimary) return;
        IReadOnlyList<ReplicaAddress> present = ReplicaLock.Addresses(files, options.LogDirectory, options.Replica);
        if (anyhow || !present.SequenceEqual(others)) Publish(catalog, identity, parts, present);
    }

    private void Publish(DirectoryCatalog catalog, InstanceIdentity identity, Coordinator parts, IReadOnlyList<ReplicaAddress> present)
    {
        Crash.Hit("catalog.beforePublish");
        others = present;
        IEnumerable<ReplicaEntry> secondaries = others.Take(CatalogLimits.ReplicasMax - 1)
            .Select(other => new ReplicaEntry(other.Replica, other.Address, "secondary", parts.Epoch));
        var entry = new CatalogEntry(parts.Self, identity.Uuid, options.LogDirectory, parts.Epoch,
            [new ReplicaEntry(options.Replica, links!.Address, "primary", parts.Epoch), .. secondaries]);
        try
        {
            switch (catalog.Publish(entry))
            {
                case PublishAnswer.NameTaken: Fail(ExitCodes.Misuse, InstanceStart.NameTaken(identity, catalog.Find(parts.Self))); break;
                case PublishAnswer.Outdated:
                    Fail(ExitCodes.NotPrimary,
                        $"the catalog has a higher epoch of {parts.Self} than {parts.Epoch}: another coordinator is its primary, or this log is an old copy");
                    break;
                case PublishAnswer.Published: catalogTrouble = null; break;
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Links that are open need no catalog: the next heartbeat tries again.
            if (catalogTrouble != e.Message)
                lines.Say(
                    $"catalog: the entry of {parts.Self} cannot be published, so that peers may not find it; tried again: {e.Message}");
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
            while (parts.HasLog && parts.Log.MarkDue && patience.Elapsed < TimeSpan.FromSeconds(6))
            {
                if (parts.Log.AppendMark()) commits.Commit(drained: true);
                Thread.Sleep(1);
            }
        }
        End(ExitCodes.Ok);
    }

    private void Fail(int code, string why)
    {
        if (Volatile.Read(ref isLookingAgain) != 0) return; // it ends with that
        if (code == ExitCodes.Divergence && TryLookAgain(why)) return;
        Finish(code, why);
    }

    /// <summary>A secondary's app makes other calls than the log's: before the process ends it says which, and at which record.</summary>
    private bool TryLookAgain(string why)
    {
        if (coordinator is not { HasLog: false, Diverged: { } stretch } diverged || app is null
            || Interlocked.Exchange(ref isLookingAgain, 1) != 0) return false;
        if (!rules!.TryForbid())
        {
            isLookingAgain = 0; // it leads, or is about to: it must end at once
            return false;
        }
        app.Hold();
        standby?.Dispose();
        checkpoints?.Dispose();
        name?.Dispose(); // from now on nobody counts on this replica
        RemoveDoubtful();
        var look = new SecondLook(made!, diverged, stretch, places!, app.TurnTo);
        new Thread(() => Finish(ExitCodes.Divergence, $"{why} {Found(look)}")) { Name = "second look", IsBackground = true }.Start();
        return true;
    }

    private string Found(SecondLook look)
    {
        try
        {
            return look.Run(canExecute: ChannelOpened is null);
        }
        catch (Exception e) when (ExitCodes.Of(e) is not null || e is ProtocolViolation)
        {
            return $"A second look failed: {e.Message}";
        }
    }

    private void Finish(int code, string why)
    {
        (code, why) = ExitCodes.Regarding(fence, code, why);
        lines.Failure(code, why);
        if (code == ExitCodes.Divergence) RemoveDoubtful();
        End(code);
        ProcessExit.Now(code);
    }

    private void RemoveDoubtful()
    {
        try
        {
            coordinator?.RemoveDoubtful();
        }
        catch (IOException e)
        {
            lines.Say($"checkpoint: those of this replica stay: {e.Message}");
        }
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

        public void TimersChanged() => host.timers?.Wake();

        public void OutputsWait() => host.outputs?.Wake();

        public void Dial() => host.links?.Wake();

        public void Fail(int code, string why) => host.Fail(code, why);

        public void Say(string line) => host.lines.Say(line);
    }
}
