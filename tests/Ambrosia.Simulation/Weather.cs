using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// What a world suffers beside deaths and cut links: clocks that are set, processes that stand still, connections that are slow, dead in
/// one direction or dialled twice, disks that fail or are full, and messages of any length. Each world draws which kinds it has, so that
/// many worlds have few kinds each, and some have them all. It has chance of its own, so that a world without weather takes the steps that
/// it took before there was any. A process that meets an error of its disk ends with 74, and is started again.
/// </summary>
internal sealed class Weather
{
    /// <summary>One kind of weather is drawn in so manyth world.</summary>
    private const int KindsOneIn = 3;

    private const long DiskBytes = 1L << 40;
    private const int BlobBytesMax = 2 << 20;

    private readonly World _world;
    private readonly SimulatedRandom _random, _writesBack;
    private readonly bool _setsClocks, _stops, _dialsTwice, _failsDisks, _fillsDisks, _hasBlobs;
    private readonly ulong _blobEvery;
    private TimeSpan? _fullUntil;

    /// <summary>An operation on a file of their log was made to fail for these processes, which may end with 74.</summary>
    private readonly HashSet<string> _hit = new(StringComparer.Ordinal);

    /// <summary>The operations that were made to fail.</summary>
    private readonly HashSet<long> _failed = [];

    public Weather(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0x3EA7);
        _writesBack = new SimulatedRandom(seed ^ 0x5EA7);
        if (!world.Faults.Weather) return;
        world.Disk.Faults.Fires = Hit;
        (_setsClocks, _stops, HarmsLinks, _dialsTwice) = (Draw(), Draw(), Draw(), Draw());
        (_failsDisks, _fillsDisks, _hasBlobs) = (Draw(), Draw(), Draw());
        _blobEvery = (ulong)_random.Next(100, 400);
        if (world.Rot.OutboxBytes is null) return;
        (_hasBlobs, _blobEvery) = (true, 15); // little else would find its way to the disk
    }

    /// <summary>Operations of the disk fail, or find it full.</summary>
    public bool FailsDisks => _failsDisks || _fillsDisks;

    /// <summary>Connections may be slow, or dead in one direction.</summary>
    public bool HarmsLinks { get; }

    /// <summary>A connection may bring its hello behind that of a later one.</summary>
    public bool MayOvertake => HarmsLinks || _dialsTwice;

    /// <summary>
    /// The length of the blob that goes with this call; null: none goes. It follows from the number, as a handler's choice must.
    /// </summary>
    public int? BlobBytesOf(ulong number)
    {
        if (!_hasBlobs || number % _blobEvery != 0) return null;
        ulong chance = Ledger.Mix(number, _blobEvery) >> 16;
        int bytes = (chance % 32) switch
        {
            < 4 => 0, < 12 => (int)(chance % 300), < 31 => (int)(chance % 100_000), _ => (int)(chance % BlobBytesMax),
        };
        _world.Saw(bytes == 0 ? "empty blob" : bytes > _world.LogOptions.PageBytes ? "record longer than a page" : null);
        return bytes;
    }

    /// <summary>A second connection is made beside the first.</summary>
    public bool DialsTwice()
    {
        if (!_dialsTwice || _world.IsCalm || _random.Next(6) != 0 || !_world.Strikes.Strike("dial twice")) return false;
        _world.Saw("dialled twice");
        return true;
    }

    /// <summary>Lets something happen, now and then.</summary>
    public void Step()
    {
        if (_fullUntil is { } until && _world.Time.Elapsed >= until) Empty();
        if (_setsClocks && _random.Next(3000) == 0) SetClock();
        if (_stops && _random.Next(2500) == 0) Stop();
        if (HarmsLinks && _random.Next(400) == 0) HarmLink();
        if (_failsDisks && _random.Next(2500) == 0) FailDisk();
        if (_failsDisks && _writesBack.Next(1500) == 0) FailWriteBack();
        if (_fillsDisks && _fullUntil is null && _random.Next(4000) == 0) Fill();
    }

    /// <summary>Everything works again; what was lost stays lost, and clocks stay as they are.</summary>
    public void Clear()
    {
        Empty();
        _world.Disk.Faults.Clear();
    }

    /// <summary>True: this comes of a disk that fails or is full, and ends the process that meets it.</summary>
    /// <exception cref="SimulationFailure">No operation of that process on its log's files was made to fail (74), or it met what is no
    /// fault of the disk as a whole.</exception>
    public bool IsOurs(SimulatedReplica replica, IOException met)
    {
        ThrowIfNotOfDisk(replica, met);
        if (!_failsDisks && !_fillsDisks) return false;
        if (!IFileSystem.IsDiskFull(met) && !_hit.Contains(replica.Process) && met is not SimulatedIOException
            && met.InnerException is not SimulatedIOException)
            throw new SimulationFailure(
                $"{replica.Process} ends with {ExitCodes.Io}, and no fault of the disk has hit a file of its log (74): {met.Message}");
        _world.Saw(IFileSystem.IsDiskFull(met) ? "disk full" : "disk error");
        return true;
    }

    private void ThrowIfNotOfDisk(SimulatedReplica replica, IOException met)
    {
        if ((met as SimulatedIOException ?? met.InnerException as SimulatedIOException) is not { } fault) return;
        string? why = fault switch
        {
            { Fault: FileFault.TooManyFiles or FileFault.OutOfMemory } => "what the system refuses for now says nothing of the disk (71)",
            { Fault: FileFault.InputOutput, Operation.Kind: FileOperationKind.Read } when !_failed.Contains(fault.Operation.Index) =>
                "a file that cannot be read is damage of that file alone (65)",
            _ => null,
        };
        if (why is not null) throw new SimulationFailure($"{replica.Process} ends with {ExitCodes.Io}: {met.Message}, and {why}");
    }

    /// <summary>Whoever starts a process that has ended by an error waits for a while.</summary>
    public TimeSpan RestartsAfter() => TimeSpan.FromMilliseconds(_random.Next(50, 1000));

    private bool Draw() => _random.Next(KindsOneIn) == 0;

    private void SetClock()
    {
        TimeSpan by = _random.Next(3) switch
        {
            0 => TimeSpan.FromMilliseconds(_random.Next(1, 5000)), 1 => TimeSpan.FromMinutes(_random.Next(1, 120)),
            _ => TimeSpan.FromHours(_random.Next(1, 60)),
        };
        bool isBack = _random.Next(2) == 0;
        if (!_world.Strikes.Strike($"set the clock {(isBack ? "back" : "forward")} by {by}")) return;
        _world.Trace($"the clock is set {(isBack ? "back" : "forward")} by {by}");
        _world.Time.ShiftWallClock(isBack ? -by : by);
        _world.Saw(isBack ? "clock set back" : "clock set forward");
    }

    private void Stop()
    {
        SimulatedReplica replica = _random.Pick(AnyReplica());
        if (replica.Coordinator is null) return;
        TimeSpan span = TimeSpan.FromMilliseconds(_random.Next(100, 9000));
        if (!_world.Strikes.Strike($"stop {replica.Process} for {span}")) return;
        _world.Trace($"stop {replica.Process} for {span}");
        replica.Pause(span);
        _world.Saw("replica stopped");
    }

    private void HarmLink()
    {
        if (_world.Links.Count == 0) return;
        SimulatedLink link = _random.Pick(_world.Links);
        bool isDead = _random.Next(3) == 0;
        TimeSpan span = TimeSpan.FromMilliseconds(isDead ? SimulatedLink.DeadAfterMs : _random.Next(10, 3000));
        bool toDialler = isDead && _random.Next(2) == 0;
        if (!_world.Strikes.Strike($"link {link.From.Id} - {link.To.Id} {(isDead ? "dead in one direction" : "slow")} for {span}")) return;
        _world.Trace($"link {link.From.Id} - {link.To.Id}: {(isDead ? "one direction is dead" : $"slow for {span}")}");
        if (isDead) link.KillDirection(toDialler, _world.Time.Elapsed + span);
        else link.Delay(_world.Time.Elapsed + span);
        _world.Saw(isDead ? "half-open link" : "slow link");
    }

    /// <summary>The next operation of some kind that one replica asks for fails once.</summary>
    private void FailDisk()
    {
        SimulatedReplica replica = _random.Pick(AnyReplica());
        string process = replica.Process;
        bool onlyChanges = _random.Next(3) != 0;
        int nth = _random.Next(1, 30);
        if (!_world.Strikes.Strike($"fail an operation of {process}")) return;
        _world.Trace($"the disk of {process} is to fail once");
        _world.Disk.Faults.Clear();
        _world.Disk.Faults.FailNth(nth, FileFault.InputOutput,
            where: operation => operation.Process == process && (!onlyChanges || operation.Changes));
    }

    /// <summary>
    /// The kernel cannot write back what an instance has written to its newest segment since the last flush, and tells each opening once.
    /// </summary>
    private void FailWriteBack()
    {
        SimulatedInstance instance = _writesBack.Pick(_world.Instances);
        string[] segments = [.. _world.Disk.Files().Where(path =>
            path.StartsWith($"{instance.Directory}/log.", StringComparison.Ordinal) && !path.EndsWith(".tmp", StringComparison.Ordinal))];
        if (segments.Length == 0) return;
        string newest = segments.MaxBy(static path => long.Parse(path.Split('.')[^1]) * 1_000_000 + long.Parse(path.Split('.')[^2]))!;
        if (!_world.Strikes.Strike($"fail the write-back of {newest}")) return;
        _world.Trace($"{newest} cannot be written back");
        _world.Disk.FailWriteBack(newest);
        _world.Saw("write-back failed");
    }

    private void Hit(FileOperation operation)
    {
        if (_world.Scarcity.IsOurs(operation)) return;
        _failed.Add(operation.Index);
        if (_world.Instances.Any(instance => $"{operation.Path}/".StartsWith($"{instance.Directory}/", StringComparison.Ordinal)))
            _hit.Add(operation.Process);
    }

    private void Fill()
    {
        TimeSpan span = TimeSpan.FromMilliseconds(_random.Next(100, 2000));
        int room = _random.Next(1 << 18);
        if (!_world.Strikes.Strike($"fill the disk for {span}")) return;
        _world.Undisturbed(() => _world.Disk.CapacityBytes = DiskBytes - _world.Disk.FreeBytes("/data") + room);
        _fullUntil = _world.Time.Elapsed + span;
        _world.Trace($"the disk is full for {span}");
    }

    private void Empty()
    {
        if (_fullUntil is null) return;
        _world.Disk.CapacityBytes = DiskBytes;
        _fullUntil = null;
    }

    private SimulatedReplica[] AnyReplica() => [.. _world.Replicas];
}
