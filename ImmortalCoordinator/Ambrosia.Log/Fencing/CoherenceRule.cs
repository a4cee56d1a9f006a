using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Fencing;

/// <summary>
/// Decides whose place a replica may take where machines share the directory (log-format L7.10): a primary that is replaced must see at
/// once that its name is gone, and a mount that remembers names would hide it. So a replica follows the primary of an epoch only when it
/// sees the directory through the same mount, has proved with that primary that nothing is remembered, or is told that it is alone and has
/// seen nothing move for a minute. Any thread asks; one thread proves and looks.
/// </summary>
public sealed class CoherenceRule(IFileSystem files, string directory, InstanceIdentity identity, MountId mount, bool isAlone)
{
    /// <summary>Who is told to be alone waits for so long, in which nothing may move.</summary>
    public static readonly TimeSpan QuietFor = TimeSpan.FromSeconds(60);

    private const long None = -1;

    /// <summary>The epoch whose primary has met this replica and saw nothing late, nor did this one; grows.</summary>
    private long _proven = None;

    /// <summary>The epoch of which nothing has moved for long enough.</summary>
    private long _quiet = None;

    private (Epoch Epoch, ulong Beat)? _last;
    private TimeSpan _since;

    /// <summary>The log's directory, which machines share, and the files through which it is seen.</summary>
    public string Directory => directory;

    public IFileSystem Files => files;

    /// <summary>The mount through which this process sees the directory.</summary>
    public MountId Mount => mount;

    /// <summary>This replica was told that nobody else has the directory.</summary>
    public bool IsAlone => isAlone;

    /// <summary>The epoch in force.</summary>
    public Epoch InForce => Fence.Current(files, directory, identity);

    /// <summary>Says whether this replica may take the place of the primary of an epoch.</summary>
    public bool MayFollow(Epoch epoch) => epoch == new Epoch(0) // nobody was ever primary
        || Volatile.Read(ref _proven) == (long)epoch.Value || Volatile.Read(ref _quiet) == (long)epoch.Value || HasMountOf(epoch);

    /// <summary>This replica and the primary of an epoch have met, and neither has seen anything late.</summary>
    public void Prove(Epoch epoch) => Volatile.Write(ref _proven, (long)epoch.Value);

    /// <summary>
    /// Looks whether anything moves: the fence, a lock, a heartbeat. Returns the epoch in force, and whether a process holds its lock.
    /// </summary>
    /// <param name="now">Monotonic.</param>
    public (Epoch Epoch, bool HasPrimary) Look(TimeSpan now)
    {
        Epoch epoch = InForce;
        bool isHeld = PrimaryClaim.HasPrimary(files, directory, identity);
        ulong beat = 0;
        foreach (string path in PrimaryLock.Of(files, directory, epoch)) beat = Math.Max(beat, PrimaryLock.ReadBeat(files, path) ?? 0);
        if (isHeld || _last != (epoch, beat)) (_last, _since) = ((epoch, beat), now);
        if (isAlone && now - _since >= QuietFor) Volatile.Write(ref _quiet, (long)epoch.Value);
        return (epoch, isHeld);
    }

    private bool HasMountOf(Epoch epoch) => mount.IsKnown && PrimaryLock.ReadMount(files, directory, epoch) == mount;
}
