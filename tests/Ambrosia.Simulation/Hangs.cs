using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>The threads of a coordinator that may hang in an operation of the disk or of the catalog, each by itself.</summary>
internal enum Pump
{
    Commit,
    Space,
    Checkpoints,
    Housekeeping,
    Fence,
    Catalog,
    Follow,
}

/// <summary>
/// Operations of a disk or a mount that do not come back for a while: the thread that made one stands still, and all others of its process
/// go on. It hangs before the operation has any effect. It has chance of its own.
/// </summary>
internal sealed class Hangs(World world, ulong seed)
{
    private const int HangsOneIn = 1500, HungDisksOneIn = 600, SpanMsMax = 6000;

    /// <summary>A primary whose disk hangs under its space pump writes on until what is prepared is full.</summary>
    private static readonly TimeSpan s_waitsForSpace = TimeSpan.FromSeconds(60);

    private readonly SimulatedRandom _random = new(seed ^ 0x4A46);

    /// <summary>Decides which hangs last for longer than the limit, so that all other chance stays what it was.</summary>
    private readonly SimulatedRandom _lasting = new(seed ^ 0x1A57);
    private bool? _areUsed;

    /// <summary>Lets a thread hang, now and then.</summary>
    public void Step()
    {
        _areUsed ??= world.Faults.HungDisks || (_random.Next(3) == 0 && world.Faults.Hangs);
        if (_areUsed != true || _random.Next(world.Faults.HungDisks ? HungDisksOneIn : HangsOneIn) != 0) return;
        SimulatedReplica[] candidates = [.. world.Replicas];
        if (world.Faults.HungDisks) candidates = Array.FindAll(candidates, replica => replica.Coordinator is { IsPrimary: true });
        if (candidates.Length == 0) return;
        SimulatedReplica replica = _random.Pick(candidates);
        Pump pump = world.Faults.HungDisks ? Pump.Space : _random.Pick(Enum.GetValues<Pump>());
        TimeSpan span = TimeSpan.FromMilliseconds(_random.Next(50, SpanMsMax));
        if (world.Faults.HungDisks) span += s_waitsForSpace + 4 * world.Limits.HangLimit;
        else if (_lasting.Next(3) == 0) span += 4 * world.Limits.HangLimit;
        if (replica.Coordinator is null || !world.Strikes.Strike($"{replica.Process}: {pump} hangs for {span}")) return;
        world.Trace($"{replica.Process}: {pump} hangs for {span}");
        replica.Hung.Hang(pump, world.Time.Elapsed + span);
        if (pump == Pump.Space && !world.Faults.BeatsOnAHungDisk) replica.Coordinator.Space.Enter(); // it stands inside its step
        world.Saw("thread hangs");
    }
}

/// <summary>The threads of one process that hang.</summary>
internal sealed class HungPumps(World world)
{
    private readonly TimeSpan[] _until = new TimeSpan[Enum.GetValues<Pump>().Length];

    public void Hang(Pump pump, TimeSpan until) => _until[(int)pump] = until;

    public bool Has(Pump pump) => !world.IsCalm && world.Time.Elapsed < _until[(int)pump];

    /// <summary>One of them hangs at least.</summary>
    public bool HasAny => !world.IsCalm && Array.Exists(_until, until => world.Time.Elapsed < until);

    /// <summary>The process is gone.</summary>
    public void Clear() => Array.Clear(_until);
}
