using System.Diagnostics;
using System.Runtime.ExceptionServices;
using System.Text.Json.Nodes;
using Ambrosia.AppChannel;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using CRA.Catalog;
using CRA.Links;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Runs one coordinator process from its start to its end: finds or makes the instance, waits until it may be primary, takes the log over,
/// and starts the pumps over the parts. It owns how the process ends. The starting thread runs it; any thread may fail it.
/// </summary>
public sealed class CoordinatorHost : IDisposable
{
    /// <summary>A coordinator that ends because it has refused its app does so within this time.</summary>
    private static readonly TimeSpan s_refusalMax = TimeSpan.FromSeconds(2);

    private readonly CoordinatorOptions _options;
    private readonly IFileSystem _files;
    private readonly ILogger _logger;

    private readonly EventWriter? _writer; // null: the logger is somebody else's
    private readonly PumpSet _pumps;
    private readonly SpaceWait _space;
    private readonly AdminCommands _commands = new();
    private readonly ManualResetEventSlim _ended = new(false);
    private readonly CancellationTokenSource _retired = new();

    /// <summary>The parts that end with the process, behind the pumps.</summary>
    private readonly List<IDisposable> _owned = [];

    /// <summary>The timestamp from which the time until ready counts, the first time: the start, or the take-over.</summary>
    private long _begun = Stopwatch.GetTimestamp();
    private Coordinator? _coordinator;
    private AppProcesses? _apps;
    private DivergenceExit? _divergence;
    private IncidentJournal? _incidents;

    /// <summary>Another replica was primary when this one wanted to be.</summary>
    private volatile bool _hasFollowed;

    /// <summary>The lock of the replica's name.</summary>
    private ReplicaLock? _name;

    /// <summary>Peers and callers were let in.</summary>
    private bool _isOpen;

    /// <summary>The first end counts; negative: there is none yet.</summary>
    private int _exitCode = -1;
    private int _isFinishing;

    /// <summary>The fence of the epoch that this process has claimed; null before.</summary>
    private Fence? _fence;

    /// <param name="output">Gets each event as a line; the host alone uses it from now on.</param>
    public CoordinatorHost(CoordinatorOptions options, IFileSystem files, TextWriter output)
        : this(options, files, new EventWriter(output, EventFormat.OfProcess(options))) => _writer = (EventWriter)_logger;

    /// <param name="logger">Gets the events. No call of it may block or throw, and any thread makes them.</param>
    public CoordinatorHost(CoordinatorOptions options, IFileSystem files, ILogger logger)
    {
        _options = options;
        _files = options.UnsafeNoFlush ? new UnflushedFiles(files) : files;
        _logger = logger;
        _space = new SpaceWait(logger);
        _pumps = new PumpSet(Fail, Progress);
        CrashSwitch.ArmFromEnvironment();
    }

    /// <summary>Says whether the pumps get on.</summary>
    public PumpProgress Progress { get; } = new(TimeProvider.System);

    /// <summary>Hears that the app may come now, with these in its environment; for an app that is in this process.</summary>
    public Action<IReadOnlyDictionary<string, string>>? ChannelOpened { get; init; }

    /// <summary>Hears why the process ends at once, and must come back soon.</summary>
    public Action<int, string>? Exiting { get; init; }

    /// <summary>Says at which message the app dies, or diverges; null: nobody does.</summary>
    public IncidentExplainer? ExplainsIncidents { get; init; }

    /// <summary>Runs until the end; returns the exit code.</summary>
    /// <exception cref="MisuseException">What was asked for cannot be done: exit 2, nothing was made.</exception>
    public int Run(CancellationToken stop)
    {
        using CancellationTokenSource asked = CancellationTokenSource.CreateLinkedTokenSource(stop, _retired.Token);
        _space.Stop = asked.Token;
        MisuseException? misuse = null; // the caller tells it; what else leaves the start, the wait or the stop has its exit code and line
        PumpThread.Guard("main", () => misuse = RunToTheEnd(asked.Token), Fail);
        if (misuse is not null) ExceptionDispatchInfo.Throw(misuse);
        return Math.Max(_exitCode, 0);
    }

    private MisuseException? RunToTheEnd(CancellationToken asked)
    {
        try
        {
            Start(asked);
            _ended.Wait(asked);
            return null;
        }
        catch (MisuseException misuse)
        {
            return misuse;
        }
        catch (OperationCanceledException) when (asked.IsCancellationRequested)
        {
            // Done below: behind a catch, what goes wrong in the stop has its exit code, too.
        }
        Stop();
        return null;
    }

    private void Start(CancellationToken stop)
    {
        if (_options.UnsafeNoFlush) _logger.UnsafeStarted();
        if (_options.UnsafeNoProof) _logger.UnprovenClaimsAllowed();
        var catalogFiles = new CatalogFiles(
            _files, _options.Catalog.Path, $"{_options.Instance}.{_options.Replica}", System.Environment.ProcessId);
        ICatalog catalog = CatalogOpening.ForCoordinator(_options.Catalog, catalogFiles, _logger);
        if (_options.Log.WriteMode == LogWriteMode.Direct && !_files.CanWriteDirect(_options.LogDirectory))
            throw new MisuseException(
                $"the file system of {_options.LogDirectory} cannot be written past the page cache; give --log-write auto, or another directory");
        CertificateFiles? certificates =
            _options.TlsCertificate is null ? null : new CertificateFiles(_options, _files, TimeProvider.System, _logger);
        InstanceIdentity identity = new InstanceStart(_options, _files, catalog, certificates, _logger).FindOrCreate(stop);
        var place = new ReplicaPlace(_options, _files, _space);
        _owned.Add(_name = place.TakeName(stop));
        place.Prepare(_options.Catalog.IsDirectory ? catalogFiles : null);
        _commands.Set("status", _ => new AdminAnswer(StatusReport.OfWaiting(identity, _options.Replica)));
        // Whoever has the replica's name serves its operators: in the place of one that may still answer, since that one is about to end.
        var admin = new AdminPump(
            () => _space.UntilGiven(() => AdminEndpoint.TryOpen(
                _files, _options.LogDirectory, _options.Replica, evenIfTaken: true, _options.RunDirectory)),
            _commands, Fail, _logger);
        _owned.Add(admin);
        admin.Start();
        CoherenceRule? coherence = !_options.UnsafeNoProof && MountId.OfShared(_options.LogDirectory) is { } mount
            ? new CoherenceRule(_files, _options.LogDirectory, identity, mount, _options.IsAlone) : null;
        if (coherence is not null) StartProving(coherence);
        var monitor = new TakeOverMonitor(_files, identity, _options, coherence, SystemRandom.NextNumber);
        var follower = new LogFollower(_files, _options.LogDirectory, identity);
        // A log that is there is claimed once its app was judged: one that may not execute it takes no epoch from anybody.
        ClaimResult? claim = HasLog(follower, stop) ? null : ClaimOrFollow(monitor, follower, stop);
        InstanceStart.RequireOldApp(_options, follower.AppVersion);

        AppEndpoint endpoint = _space.UntilGiven(() => AppEndpoint.Open(_files, _options));
        _owned.Add(endpoint);
        CoordinatorInputs inputs = new()
        {
            Options = _options, Identity = identity, Files = _files, AppToken = endpoint.Token, OldAppToken = endpoint.OldToken,
            Time = BootTime.Instance, Random = Random.Shared.NextDouble, Pumps = _pumps, Logger = _logger,
        };
        _divergence = new DivergenceExit(inputs, catalog, monitor, _name, canExecute: ChannelOpened is null);
        if (claim is ClaimResult.Claimed claimed)
        {
            _coordinator = new Coordinator(inputs, new PrimaryStart(claimed.Fence, claimed.PrimaryLock, TakeLogOver(identity, claimed.Fence)));
            follower.Dispose();
            _pumps.StartCommits(_coordinator.Committer);
        }
        else _coordinator = new Coordinator(inputs, follower);
        if (_coordinator.Upgrades.Parts is { } upgrade)
            upgrade.Rehearsal.Passed += () => PumpThread.Start("upgrade", () => _pumps.Secondary?.Promote(), Fail);
        _incidents = new IncidentJournal(inputs, _coordinator, catalog, ExplainsIncidents);
        _coordinator.AddCommands(_commands);
        AddCommands(_coordinator);
        admin.AwaitOpen();
        StartPumps(inputs, catalog, certificates, endpoint);
        if (!_coordinator.HasLog) StartStandby(monitor, follower, identity);
    }

    private void StartProving(CoherenceRule rule)
    {
        var pump = new CoherencePump(
            rule, _options.Replica, () => _coordinator is { IsPrimary: true } primary ? primary.Epoch : null, Fail, _logger, Progress);
        _owned.Add(pump);
        pump.Start();
    }

    /// <summary>Reads the log as far as it is stated; false: it has no segment yet.</summary>
    private static bool HasLog(LogFollower follower, CancellationToken stop)
    {
        while (follower.Step()) stop.ThrowIfCancellationRequested();
        return follower.DigestEvery is not null;
    }

    /// <summary>Tries until the epoch is ours, or until the log of another primary can be followed: then the answer is null.</summary>
    private ClaimResult.Claimed? ClaimOrFollow(TakeOverMonitor monitor, LogFollower follower, CancellationToken stop)
    {
        while (true)
        {
            ClaimResult? result = _space.Until(monitor.Try);
            if (result is ClaimResult.Claimed claimed) return claimed;
            if (result is not ClaimResult.Lost && HasLog(follower, stop)) return null;
            stop.WaitHandle.WaitOne(10); // its first segment is on its way, or a listing shows the name that the fence had before
            stop.ThrowIfCancellationRequested();
        }
    }

    private PrimaryLog TakeLogOver(InstanceIdentity identity, Fence fence, LogFollower? follower = null, PromotionSpare? spare = null)
    {
        _fence = fence;
        var location = new LogLocation(_files, _options.LogDirectory, identity) { Crash = Crash.Points };
        PrimaryLog log = _space.Until(
            () => TakeOver.Execute(location, fence, _options.Replica, _options.Log, BootTime.Instance, follower, spare));
        if (log.Tail is ReadVerdict.TornTail cut)
            _logger.TailCut(cut.Bytes, cut.At, cut.Offset, cut.File, cut.Reason, cut.DurableUpTo);
        return log;
    }

    private void StartStandby(TakeOverMonitor rules, LogFollower follower, InstanceIdentity identity) =>
        _pumps.Follow(new SecondaryPump(rules, follower, _files, _coordinator!, new Standby(this, identity), _logger));

    /// <summary>Does in this process what follows from a secondary's waiting.</summary>
    private sealed class Standby(CoordinatorHost host, InstanceIdentity identity) : ISecondaryHost
    {
        public PumpProgress Progress => host.Progress;

        public PromotionSpare NewSpare(Epoch follows)
        {
            CoordinatorOptions options = host._options;
            return PromotionSpare.Create(host._files, options.LogDirectory, options.Replica, follows, options.Log);
        }

        /// <summary>A secondary that has caught up answers queries; the primary finds its address and tells the catalog.</summary>
        public void CaughtUp()
        {
            host._pumps.Links!.Accept();
            host._name!.PublishAddress(host._pumps.Links.Address);
        }

        public void Moves(Lsn executed) => host._name!.PublishMove(executed);

        public PrimaryLog TakeLogOver(Fence claimed, LogFollower? follower, PromotionSpare? spare) =>
            host.TakeLogOver(identity, claimed, follower, spare);

        public void BecomePrimary(PrimaryStart start) => host.BecomePrimary(start);

        public T AwaitingSpace<T>(Func<T> make) => host._space.Until(make);

        public T AwaitingRefused<T>(Func<T> make) => host._space.UntilGiven(make);

        public void AnotherIsPrimary(ClaimResult.Held held)
        {
            host._hasFollowed = true;
            host._logger.AnotherIsPrimary(host._options.Instance, held.LockPath, host._options.Replica);
        }

        public void Fail(int code, string why) => host.Fail(code, why);
    }

    /// <summary>Adds the commands about the role of this process.</summary>
    private void AddCommands(Coordinator parts)
    {
        var promoted = new PromotedReplica(() => parts.Sessions.Lag, () => parts.IsPrimary ? parts.Epoch : null,
            () => PumpThread.Start("promote", () => _pumps.Secondary?.Promote(), Fail),
            () => parts.AppWatch.Overdue)
        {
            WaitsBecause = () => parts.Sessions.Admission.WaitsBecause,
            Obstacle = () => parts.Sessions.Admission.Obstacle ?? _pumps.Secondary?.Obstacle,
        };
        _commands.Set("promote", request => PromoteCommand.Begin(request, parts.HasLog, promoted, TimeProvider.System));
        _commands.Set("upgrade", request => UpgradeCommand.Begin(request, new UpgradedReplica(
            parts.Upgrades.InPlace, () => parts.Sessions.Live is { IsPrimary: true } ? parts.Execution.Delivery.Versions.Runs : null,
            () => NextAppFile.TryRead(_files, _options)?.CommandLine ?? "", TimeProvider.System)));
        parts.AddRetire(_commands, _retired.Cancel);
    }

    private void BecomePrimary(PrimaryStart start)
    {
        if (_hasFollowed) _begun = Stopwatch.GetTimestamp();
        _coordinator!.BecomePrimary(start);
        _pumps.StartCommits(_coordinator.Committer);
        _logger.LogTakenOver(_coordinator.Epoch, _coordinator.Log.Durable);
    }

    private void StartPumps(CoordinatorInputs inputs, ICatalog catalog, CertificateFiles? certificates, AppEndpoint endpoint)
    {
        Coordinator parts = _coordinator!;
        var calls = new BlockingCalls(TimeProvider.System, _logger);
        var watched = new WatchedCatalog(catalog, calls);
        LinkSettings settings = LinkPump.SettingsOf(_options, watched, certificates, inputs.Memory.Receiving, Fail);
        var links = new LinkPump(parts, watched, settings, Fail, _logger, Progress);
        InstanceStart.Listening(() => links.Listen(_options.Listen, _options.Advertise));
        var publisher = new CatalogPublisher(inputs, watched, calls, parts, () => links.Address, Fail);
        var publication = new CatalogPump(publisher.Publish, parts.Links.Table, watched, links.Wake, Fail);
        parts.Primary += session =>
        {
            publication.PublishNow();
            Crash.Hit("takeover.beforeConnect");
            long begun = _isOpen ? parts.Sessions.EndedAt : _begun;
            if (!_isOpen) links.Start();
            _isOpen = true;
            _logger.BecameReady(inputs.Identity.Name, parts.Epoch, parts.Execution.Delivery.Records,
                Stopwatch.GetElapsedTime(begun).TotalMilliseconds, links.Address, endpoint.Address);
        };
        _pumps.StartCatalog(publication);
        _pumps.Start(inputs, parts, endpoint, links, calls, ChannelOpened is null ? new GarbageBound() : null);
        _logger.LogOpened(parts.Epoch, parts.Durable, endpoint.Address, endpoint.TokenPath);
        parts.Bodies.Begin(TaskTable.Open(endpoint.BodiesPath));
        ChannelOpened?.Invoke(endpoint.Environment);
        if (_options.App.Count == 0) return;
        _apps = new AppProcesses(inputs, endpoint, parts, _incidents!, Fail);
        parts.Upgrades.InPlace.Apps = _apps;
        _pumps.App!.Replacement = _apps.Replacement;
        _apps.Start();
    }

    private void Stop()
    {
        _logger.StopAsked();
        _coordinator?.Upgrades.InPlace.TryGiveUp("the coordinator stops");
        _apps?.StartNoMore();
        if (_coordinator is { } parts) _pumps.EndCleanly(parts.BeginCleanEnd());
        if (ChannelOpened is null) PumpSet.EndApps(_coordinator?.Sessions.Live, _apps); // one in this process ends with it
        End(ExitCodes.Ok);
    }

    private void Fail(int code, string why)
    {
        if (_divergence is { HasBegun: true }) return; // it ends with that
        if (code == ExitCodes.Divergence && _coordinator is { } diverged && _divergence is { } exit)
        {
            if (exit.TryBegin(why, diverged, _pumps.App, _pumps.EndFollowing, Finish)) return;
            why += exit.LookAtCalls(diverged);
        }
        Finish(code, why);
    }

    private void Finish(int code, string why)
    {
        // An app that was refused ends too, and must not speak for its coordinator.
        if (Interlocked.Exchange(ref _isFinishing, 1) != 0) return;
        (code, why) = ExitCodes.Regarding(_fence, code, why);
        if (code == ExitCodes.OtherAppVersion) why += NextAppFile.HintOf(_files, _options);
        if (code == ExitCodes.Divergence)
        {
            DivergenceExit.RemoveDoubtful(_coordinator, _logger); // before anything is looked for, which may begin with one of them
            _incidents?.Diverged(why);
        }
        _logger.Exited(code, why);
        End(code);
        FlushEvents();
        Exiting?.Invoke(code, why);
        ProcessExit.Now(code);
    }

    /// <summary>
    /// The app, which is in this process, has ended by itself, and the process ends with it: says at which message. Returns the code with
    /// which the process ends: an app that was refused hears of it a moment before its coordinator ends for that reason.
    /// </summary>
    /// <param name="code">The app's exit code.</param>
    public int AppEnded(int code)
    {
        _incidents?.Died(code);
        _incidents?.TellDeath(CancellationToken.None);
        if (code == ExitCodes.Misuse) _ended.Wait(s_refusalMax);
        return _exitCode >= 0 ? _exitCode : code;
    }

    /// <summary>Waits a moment for events that are still to be written, for a process that is about to end.</summary>
    public void FlushEvents() => _writer?.Flush();

    /// <summary>Returns what this replica says of itself to operators (protocol P9.5); null: it has not begun yet. Any thread.</summary>
    public JsonObject? Status()
    {
        JsonObject answer = _commands.Begin("{\"command\":\"status\"}"u8).Next(out _) ?? [];
        return answer.ContainsKey("role") ? answer : null;
    }

    private void End(int code)
    {
        Interlocked.CompareExchange(ref _exitCode, code, -1);
        _ended.Set();
    }

    public void Dispose()
    {
        _pumps.Secondary?.Dispose(); // nothing is claimed on the way out
        _apps?.Dispose();
        _pumps.Dispose(); // the pumps end before what they pump
        ProcessExit.Dispose(_owned);
        _owned.Clear();
        _writer?.Dispose();
    }
}
