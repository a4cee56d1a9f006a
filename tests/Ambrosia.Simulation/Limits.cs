using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace Ambrosia.Simulation;

/// <summary>
/// The sizes and times with which coordinators of a world are started. In half of the worlds all of them are drawn, each from the smallest
/// that makes sense to the largest that makes a difference here, since what never meets a limit never tries it.
/// </summary>
internal sealed class Limits
{
    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _areDrawn;
    private readonly CoordinatorOptions? _drawn;

    public Limits(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0x11417);
        _areDrawn = _random.Next(2) == 0 && world.Faults.Limits;
        if (!_areDrawn) return;
        world.Saw("limits drawn");
        HangLimit = TimeSpan.FromMilliseconds(Between(800, 8000));
        _drawn = new CoordinatorOptions
        {
            LogDirectory = "", Instance = "", Catalog = CatalogPlace.OfDirectory("/"),
            CheckpointInterval = _random.Next(3) == 0 ? TimeSpan.FromMilliseconds(Between(200, 20_000)) : null,
            CheckpointBoundBytes = _random.Next(2) == 0 ? Between(1, 64 << 10) : null,
            Retention = _random.Next(4) switch
            {
                0 => RetentionPolicy.All, 1 => RetentionPolicy.OfSpan(TimeSpan.FromMilliseconds(Between(500, 60_000))),
                _ => RetentionPolicy.OfCheckpoints(_random.Next(2, 6)),
            },
            HoldLimit = new HoldLimit(TimeSpan.FromMilliseconds(Between(200, 3_600_000)), Between(64 << 10, 1 << 30)),
            OutboxBytes = Between(64 << 10, 8 << 20),
            ScratchBytes = Between(16 << 20, 1 << 30),
            MessageBytesMax = (uint)Between(4 << 20, SizeLimits.MessageBytesMaxDefault), // callers outside take no more
            HandlerWarning = TimeSpan.FromMilliseconds(Between(1000, 60_000)),
        };
    }

    /// <summary>All are drawn.</summary>
    public bool AreDrawn => _areDrawn;

    public TimeSpan HangLimit { get; } = TimeSpan.FromSeconds(2);

    /// <summary>The log's sizes; those that are given hold where none are drawn.</summary>
    public LogOptions Of(LogOptions usual)
    {
        if (!_areDrawn) return usual;
        int pageBytes = 4096 * (int)Between(2, 256);
        return usual with
        {
            PageBytes = pageBytes, SegmentBytes = Math.Max(4096 * Between(8, 2048), pageBytes + 8192), Pages = (int)Between(2, 8),
            PagesKept = (int)Between(1, 64) - 1, SpanningBytes = Between(1, 4 << 20), DigestEvery = (ulong)(4096 * Between(256, 1024)),
            AllocateStepBytes = 4096 * Between(1, 512), SparesMax = _random.Next(0, 9), ZeroWindowBytes = 4096 * (Between(1, 512) - 1),
        };
    }

    /// <summary>The options with which one process is started.</summary>
    public CoordinatorOptions Of(CoordinatorOptions usual) => WithDrawn(usual) is var options && _world.Rot.OutboxBytes is { } little
        ? options with { OutboxBytes = little } : options;

    private CoordinatorOptions WithDrawn(CoordinatorOptions usual) => _drawn is not { } drawn ? usual : drawn with
    {
        LogDirectory = usual.LogDirectory, Instance = usual.Instance, Replica = usual.Replica, Catalog = usual.Catalog,
        HangLimit = HangLimit, CheckpointEveryBytes = usual.CheckpointEveryBytes, Log = usual.Log, IgnoreLock = usual.IgnoreLock,
        CheckpointBoundBytes = usual.CheckpointBoundBytes ?? drawn.CheckpointBoundBytes, ForkPolicy = usual.ForkPolicy,
        Upgrade = usual.Upgrade,
    };

    /// <summary>Small ones as often as large ones.</summary>
    private long Between(long low, long high) => (long)(low * Math.Pow((double)high / low, _random.NextDouble()));
}
