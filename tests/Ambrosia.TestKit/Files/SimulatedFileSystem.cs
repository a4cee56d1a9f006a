using Ambrosia.Log.Files;

namespace Ambrosia.TestKit;

/// <summary>
/// A disk in memory behind the files seam. It keeps what programs see and what the device holds apart: un-flushed blocks, lengths and names
/// may be lost in any combination that a journalling file system allows. All chance comes from seeds, all operations are numbered, so every
/// crash can be repeated. Used as an <see cref="IFileSystem"/> itself it is the process <c>host</c>; <see cref="ForProcess"/> gives others.
/// Any thread: operations are serialised.
/// </summary>
public sealed partial class SimulatedFileSystem : IFileSystem
{
    private const string HostId = "host";

    /// <summary>Invariant: the processes that live; ids are unique among them.</summary>
    private readonly Dictionary<string, SimulatedProcess> _processes = [];

    private NameSpace _names = new();
    private long _operations;
    private int _inodes;

    public SimulatedFileSystem(ulong seed = 0) => Random = new SimulatedRandom(seed);

    /// <summary>
    /// Called before each operation takes effect, inside the disk's lock. It may throw <see cref="SimulatedCrash"/>,
    /// which kills the process.
    /// </summary>
    public Action<FileOperation>? BeforeOperation { get; set; }

    public FaultPlan Faults { get; private init; } = new();

    /// <summary>Size of the device; a write, allocation or extension beyond it fails with ENOSPC.</summary>
    public long CapacityBytes { get; set; } = 1L << 40;

    /// <summary>Operations so far; the next has this index + 1.</summary>
    public long Operations => _operations;

    /// <summary>Power losses so far.</summary>
    public long PowerLosses { get; private set; }

    internal Lock Gate { get; } = new();

    internal SimulatedRandom Random { get; private init; }

    private SimulatedProcess Host => ForProcess(HostId);

    /// <summary>The living process of that id, started if there is none.</summary>
    public SimulatedProcess ForProcess(string id)
    {
        lock (Gate)
        {
            if (!_processes.TryGetValue(id, out SimulatedProcess? process)) _processes.Add(id, process = new SimulatedProcess(this, id));
            return process;
        }
    }

    /// <summary>
    /// kill -9: its files close and its locks are free; the page cache keeps all that was written. Nothing when it is dead already.
    /// </summary>
    public void Kill(SimulatedProcess process)
    {
        lock (Gate)
        {
            if (!process.IsAlive) return;
            _processes.Remove(process.Id);
            process.Die();
        }
    }

    /// <summary>
    /// The machine loses power: every process dies, and of what was not flushed only what the seed keeps survives. The same seed on the
    /// same state keeps the same.
    /// </summary>
    public void PowerLoss(ulong seed, PowerLossOptions? options = null)
    {
        options ??= PowerLossOptions.Default;
        var random = new SimulatedRandom(seed);
        lock (Gate)
        {
            KillAll();
            int keepData = options.KeepPercent ?? random.Pick<int>([0, 25, 50, 50, 75, 100]);
            int keepNames = options.KeepPercent ?? random.Pick<int>([0, 25, 50, 50, 75, 100]);
            _names.LosePower(random, keepNames, options.OrderedNames ?? random.Chance(50));
            foreach (Inode inode in NamedInodes()) inode.LosePower(random, keepData, options.TornSectors);
        }
    }

    /// <summary>
    /// The machine loses power, and the device keeps what <paramref name="choices"/> says: blocks whole, each with any of its versions;
    /// any subset of the names.
    /// </summary>
    public void PowerLoss(PowerLossChoices choices)
    {
        lock (Gate)
        {
            KillAll();
            _names.LosePower(choices);
            foreach (Inode inode in NamedInodes()) inode.LosePower(choices);
        }
    }

    private void KillAll()
    {
        PowerLosses++;
        foreach (SimulatedProcess process in _processes.Values.ToList()) Kill(process);
    }

    private List<Inode> NamedInodes() => [.. _names.Visible.Files().Select(static file => file.Inode).Distinct()];

    /// <summary>
    /// A second disk in the same state, without processes, hook or handles: to try many power losses from one moment. Blocks
    /// are shared until written.
    /// </summary>
    public SimulatedFileSystem Copy(ulong seed = 0)
    {
        lock (Gate)
        {
            Dictionary<Inode, Inode> copies = [];
            Inode Map(Inode inode) => copies.TryGetValue(inode, out Inode? copy) ? copy : copies[inode] = inode.Copy();
            return new SimulatedFileSystem(seed)
            {
                _names = _names.Copy(Map),
                _operations = _operations,
                PowerLosses = PowerLosses,
                _inodes = _inodes,
                CapacityBytes = CapacityBytes,
                Faults = Faults.Copy(),
            };
        }
    }

    public IFile Open(string path, FileUse use) => Host.Open(path, use);

    public IFile Create(string path) => Host.Create(path);

    public bool Exists(string path) => Host.Exists(path);

    public IReadOnlyList<string> List(string directory) => Host.List(directory);

    public void CreateDirectory(string path) => Host.CreateDirectory(path);

    public void Rename(string from, string to) => Host.Rename(from, to);

    public bool TryRenameNew(string from, string to) => Host.TryRenameNew(from, to);

    public bool TryLink(string existing, string link) => Host.TryLink(existing, link);

    public void Delete(string path) => Host.Delete(path);

    public void FlushDirectory(string path) => Host.FlushDirectory(path);

    public long FreeBytes(string directory) => Host.FreeBytes(directory);

    public IFileLock? TryLock(string path) => Host.TryLock(path);

    /// <inheritdoc cref="SimulatedProcess.WaitForLock"/>
    public IFileLock? WaitForLock(string path, CancellationToken stop) => Host.WaitForLock(path, stop);
}
