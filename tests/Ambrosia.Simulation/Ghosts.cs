using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// Names that a directory lists and that lead nowhere, in a tenth of the worlds: a link whose target is gone, or a listing that is older
/// than the files. Where the newest segment is such a name for good, who starts halts (65); a listing that is old for a moment, an older
/// segment, or a checkpoint halts nobody. It has chance of its own.
/// </summary>
internal sealed class Ghosts
{
    /// <summary>A start lists a directory so often before it takes a name that leads nowhere for damage, and once more.</summary>
    private const int ListingsOfAMoment = 7;

    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _strikes;
    private bool _hasHalted;

    public Ghosts(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0x6057);
        _strikes = (world.Faults.Ghosts ?? _random.Next(10) == 0) && world.Faults.Kills && world.Deleted is null;
    }

    /// <summary>Adds a name, now and then; one that lasts is the last one.</summary>
    public void Step()
    {
        if (!_strikes || _hasHalted || _random.Next(1500) != 0) return;
        SimulatedInstance instance = _random.Pick(_world.Instances);
        string[] files = [.. _world.Disk.Files().Where(path => path.StartsWith($"{instance.Directory}/", StringComparison.Ordinal))];
        (ulong Epoch, ulong Number)[] segments = [.. files.Select(Segments.PlaceOf).OfType<(ulong, ulong)>().Order()];
        if (segments.Length == 0) return;
        switch (_random.Next(8))
        {
            case 0:
                if (Add(instance, Next(segments), int.MaxValue, "newest segment leads nowhere")) LastingHead(instance);
                break;
            case < 4: Add(instance, Next(segments), _random.Next(1, ListingsOfAMoment), "stale listing of a segment"); break;
            case < 6 when segments[0].Number > 1:
                Add(instance, $"log.{segments[0].Number - 1}.{segments[0].Epoch}", Lasts(), "stale listing of a segment");
                break;
            default:
                IEnumerable<CheckpointFileName?> all = files.Select(static path => CheckpointFileName.Parse(Path.GetFileName(path)));
                if (all.Max() is { } newest)
                {
                    var older = new Ambrosia.Protocol.Lsn((ulong)_random.Next((int)Math.Min(newest.Lsn.Value, int.MaxValue)));
                    Add(instance, (newest with { Lsn = older }).ToString(), Lasts(), "stale listing of a checkpoint");
                }
                break;
        }
    }

    private static string Next((ulong Epoch, ulong Number)[] segments) => $"log.{segments[^1].Number + 1}.{segments[^1].Epoch}";

    private int Lasts() => _random.Next(3) == 0 ? int.MaxValue : _random.Next(1, 40);

    private void LastingHead(SimulatedInstance instance)
    {
        _hasHalted = true;
        _world.Halts.Expect(instance.Id, ExitCodes.Damage);
    }

    private bool Add(SimulatedInstance instance, string name, int listings, string sight)
    {
        string path = $"{instance.Directory}/{name}";
        if (_world.Disk.Files().Contains(path)) return false;
        string what = $"{path} is listed and not there{(listings == int.MaxValue ? "" : $", {listings} times")}";
        if (!_world.Strikes.Strike(what)) return false;
        _world.Trace(what);
        _world.Disk.AddGhost(path, listings);
        _world.Saw(sight);
        return true;
    }
}
