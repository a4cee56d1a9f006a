using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// Damage behind everybody's back, once in a world that has it: in what was flushed a bit flips, a block turns to zeros, or a write that
/// was meant for another place lands in it. It strikes segments and checkpoints, while their instance runs or while it is down. Either
/// somebody halts (65), or the damage is where nothing is needed any more, and all comes to rest as if it had not been. What the log
/// itself states nowhere is left alone, since its loss cannot be told from a torn tail (log-format L8.1).
/// </summary>
internal sealed class Rot
{
    private const int BlockBytes = 4096;

    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _strikes, _hitsScratch;
    private bool _hasStruck;

    public Rot(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0x0D07);
        _strikes = (world.Faults.Rot ?? _random.Next(10) == 0) && world.Faults.Kills && world.Deleted is null;
        _hitsScratch = _random.Next(4) == 0;
        OutboxBytes = _strikes && _hitsScratch ? 1 << 10 : null;
    }

    /// <summary>The instance that was struck; null: none was so far.</summary>
    public SimulatedInstance? Struck { get; private set; }

    /// <summary>What little memory outputs have, so that they are on disk where they are to be damaged there; null: as usual.</summary>
    public long? OutboxBytes { get; }

    /// <summary>Damages something, now and then, until it has.</summary>
    public void Step()
    {
        if (!_strikes || _hasStruck || _random.Next(_hitsScratch ? 300 : 10_000) != 0) return;
        if (_hitsScratch)
        {
            HitScratch();
            return;
        }
        SimulatedInstance instance = _random.Pick(_world.Instances);
        string[] files = [.. _world.Disk.Files().Where(path => path.StartsWith(instance.Directory + "/", StringComparison.Ordinal))];
        string[] segments = [.. files.Where(static path => Segments.PlaceOf(path) is not null).OrderBy(static path => Segments.PlaceOf(path))];
        string[] checkpoints = [.. files.Where(static path => CheckpointFileName.Parse(Path.GetFileName(path)) is not null)];
        bool hitsCheckpoint = _random.Next(3) == 0 && checkpoints.Length > 0;
        if (!hitsCheckpoint && segments.Length == 0) return;
        string path = _random.Pick(hitsCheckpoint ? checkpoints : segments);
        long[] blocks = hitsCheckpoint ? Blocks(path) : path == segments[^1] ? Stated(instance, path) : Blocks(path);
        if (blocks.Length == 0) return;
        Damage(instance, path, _random.Pick(blocks));
    }

    /// <summary>
    /// Outputs that wait on disk: nothing that a crash could need, but what peers are given. Whoever reads them ends with 74, and makes
    /// them again.
    /// </summary>
    private void HitScratch()
    {
        string[] files = [.. _world.Disk.Files().Where(path =>
            Path.GetFileName(path).StartsWith("scratch.", StringComparison.Ordinal) && _world.Disk.ReadAll(path).Length > 0)];
        if (files.Length == 0) return;
        string path = _random.Pick(files);
        byte[] bytes = _world.Disk.ReadAll(path);
        int end = bytes.AsSpan().LastIndexOfAnyExcept((byte)0) + 1;
        if (end == 0) return;
        int at = _random.Next(end), bit = _random.Next(8);
        _hasStruck = true;
        if (!_world.Strikes.Strike($"{path}: bit {bit} of byte {at} flips")) return;
        _world.Trace($"{path}: bit {bit} of byte {at} flips");
        _world.Disk.FlipBit(path, at, bit);
        Struck = _world.Instances.First(instance => path.StartsWith(instance.Directory + "/", StringComparison.Ordinal));
        _world.Halts.Expect(Struck.Id, ExitCodes.Io);
        _world.Saw("damage in outputs on disk");
    }

    private long[] Blocks(string path) =>
        [.. Enumerable.Range(0, (_world.Disk.ReadAll(path).Length + BlockBytes - 1) / BlockBytes).Select(static block => (long)block)];

    /// <summary>
    /// The blocks of the newest segment that are below a position which a page behind them states as durable; all of them where a negative
    /// control says so.
    /// </summary>
    private long[] Stated(SimulatedInstance instance, string path)
    {
        byte[] bytes = _world.Disk.ReadAll(path);
        InstanceIdentity? identity = null;
        _world.Undisturbed(() => identity = InstanceDirectory.TryRead(_world.Disk, instance.Directory));
        if (identity is null) return [];
        uint seed = PageHeader.SeedOf(identity.Uuid, identity.Shard);
        var pages = new List<(long Block, PageHeader Header)>();
        for (int at = BlockBytes; at + BlockBytes <= bytes.Length;)
        {
            if (!PageHeader.TryRead(bytes.AsSpan(at), seed, out PageHeader header)) break;
            pages.Add((at / BlockBytes, header));
            at += header.Footprint;
        }
        if (_world.Faults.RotsTail) return pages.Count == 0 ? [] : [pages[^1].Block];
        Lsn stated = pages.Count == 0 ? Lsn.Zero : pages.Max(static page => page.Header.DurableUpTo);
        return [0, .. pages.Where(page => page.Header.Lsn < stated && page.Header.Next <= stated).SelectMany(static page =>
            Enumerable.Range(0, page.Header.Footprint / BlockBytes).Select(block => page.Block + block))];
    }

    private void Damage(SimulatedInstance instance, string path, long block)
    {
        int how = _random.Next(4), bit = _random.Next(8);
        byte[] bytes = _world.Disk.ReadAll(path);
        int length = (int)Math.Min(BlockBytes, bytes.Length - block * BlockBytes), at = _random.Next(length);
        bool isDown = _random.Next(2) == 0, onDeviceOnly = _random.Next(4) == 0;
        long other = BlockBytes * (long)_random.Next(Math.Max(1, (int)(bytes.Length / BlockBytes)));
        string what = how switch
        {
            < 2 => $"bit {bit} of byte {at} flips", 2 => "is zeroed", _ => $"is overwritten by block {other / BlockBytes}",
        };
        _hasStruck = true;
        if (!_world.Strikes.Strike($"{path}, block {block}: {what}{(isDown ? ", while nobody runs" : "")}")) return;
        _world.Trace($"{path}, block {block}: {what}");
        if (isDown) foreach (SimulatedReplica replica in instance.Replicas) replica.KillCoordinator();
        byte[] lands = how == 2 ? new byte[length] : [.. bytes.Skip((int)other).Take(length)];
        if (how < 2) _world.Disk.FlipBit(path, block * BlockBytes + at, bit, onDeviceOnly);
        else _world.Disk.Overwrite(path, block * BlockBytes, lands, onDeviceOnly);
        Struck = instance;
        _world.Halts.Expect(instance.Id, ExitCodes.Damage);
        _world.Saw(CheckpointFileName.Parse(Path.GetFileName(path)) is null ? "damage in a segment" : "damage in a checkpoint");
        if (how > 2) _world.Saw("misdirected write");
    }
}
