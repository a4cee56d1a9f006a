using System.Globalization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// Sectors that a disk cannot read any more, in a tenth of the worlds: a block of a segment or of a checkpoint, which is EIO for each
/// process that reads it, until it is written anew. A checkpoint that has one is passed over for an older one; an instance whose segment
/// has one halts (65), or needs nothing of it. It has chance of its own.
/// </summary>
internal sealed class BadSectors
{
    private const int BlockBytes = 4096;

    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _strikes, _hitsCheckpoint;
    private string? _path;

    public BadSectors(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0xE10);
        _strikes = (world.Faults.BadSectors ?? _random.Next(10) == 0) && world.Faults.Kills && world.Deleted is null;
        _hitsCheckpoint = _random.Next(2) == 0;
    }

    /// <summary>The instance whose file has one; null: none has so far.</summary>
    public SimulatedInstance? Struck { get; private set; }

    /// <summary>Makes a block unreadable, once, now and then.</summary>
    public void Step()
    {
        if (!_strikes || _path is not null || _random.Next(5000) != 0) return;
        SimulatedInstance instance = _random.Pick(_world.Instances);
        string[] files =
        [
            .. _world.Disk.Files().Where(path => path.StartsWith($"{instance.Directory}/", StringComparison.Ordinal)
                && (_hitsCheckpoint ? CheckpointFileName.Parse(Path.GetFileName(path)) is not null : Segments.PlaceOf(path) is not null)),
        ];
        if (files.Length == 0) return;
        string path = _random.Pick(files);
        int blocks = (_world.Disk.ReadAll(path).Length + BlockBytes - 1) / BlockBytes;
        if (blocks == 0) return;
        // Half of those in segments strike the beginning, where the pages are: what was prepared behind them is long.
        int block = _random.Next(_random.Next(2) == 0 ? blocks : Math.Min(blocks, 40));
        _path = path;
        if (!_world.Strikes.Strike($"{path}, block {block}: cannot be read any more")) return;
        _world.Trace($"{path}, block {block}: cannot be read any more");
        _world.Disk.MakeUnreadable(path, (long)block * BlockBytes, 1);
        Struck = instance;
        _world.Halts.Expect(instance.Id, ExitCodes.Damage);
        _world.Saw(_hitsCheckpoint ? "bad sector in a checkpoint" : "bad sector in a segment");
    }
}

/// <summary>Reads the names of segments.</summary>
internal static class Segments
{
    /// <summary>The place of a segment in the chain's order (log-format L1.1); null: it is another file.</summary>
    public static (ulong Epoch, ulong Number)? PlaceOf(string path) =>
        Path.GetFileName(path).Split('.') is ["log", var number, var epoch]
            ? (ulong.Parse(epoch, CultureInfo.InvariantCulture), ulong.Parse(number, CultureInfo.InvariantCulture)) : null;
}
