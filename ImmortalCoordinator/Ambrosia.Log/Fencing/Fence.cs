using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Fencing;

/// <summary>
/// Owns the claim of an epoch: the one file <c>epoch.&lt;uuid&gt;.&lt;n&gt;</c>, which belongs to the process that renamed it to n
/// (log-format L7.1). The file is only ever renamed, never deleted and never made again, so nobody can come back by an old name: there is
/// one claimer per epoch (I13). Any thread may check.
/// </summary>
public sealed class Fence
{
    /// <summary>A listing that runs beside a rename may show neither name. A listing that misses this often was not unlucky.</summary>
    private const int ListingsMax = 8;

    private readonly IFileSystem _fs;
    private readonly string _dir, _path;
    private readonly Guid _uuid;

    private Fence(IFileSystem fs, string dir, Guid uuid, Epoch epoch)
    {
        (_fs, _dir, _uuid) = (fs, dir, uuid);
        _path = Path.Combine(dir, new EpochFileName(uuid, epoch).ToString());
        Epoch = epoch;
    }

    /// <summary>The epoch that this process has claimed.</summary>
    public Epoch Epoch { get; }

    /// <summary>Returns the epoch that is in force now; 0 before the first claim.</summary>
    /// <exception cref="LogDamage">The fence is not there.</exception>
    public static Epoch Current(IFileSystem fs, string dir, InstanceIdentity identity) => Find(fs, dir, identity.Uuid)
        ?? throw new LogDamage(Path.Combine(dir, $"epoch.{identity.Uuid:D}.*"), 0, null, "the fence of this instance", "no such file");

    /// <summary>Returns the epoch in whose name the fence stands; null: it is not there.</summary>
    private static Epoch? Find(IFileSystem fs, string dir, Guid uuid)
    {
        for (int i = 0; i < ListingsMax; i++)
        {
            Epoch? highest = null;
            foreach (string name in fs.List(dir))
                if (EpochFileName.TryParse(name) is { } file && file.Uuid == uuid && !(file.Epoch < highest)) highest = file.Epoch;
            if (highest is not null) return highest;
        }
        return null;
    }

    /// <summary>
    /// Claims the epoch after <paramref name="from"/>. Returns null when another process did so first; the caller looks again.
    /// </summary>
    /// <exception cref="IOException">The disk's state is unknown: exit 74.</exception>
    public static Fence? TryClaim(IFileSystem fs, string dir, InstanceIdentity identity, Epoch from)
    {
        string old = Path.Combine(dir, new EpochFileName(identity.Uuid, from).ToString());
        string own = Path.Combine(dir, new EpochFileName(identity.Uuid, from.Next).ToString());
        try
        {
            fs.Rename(old, own);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
        fs.FlushDirectory(dir);
        return new Fence(fs, dir, identity.Uuid, from.Next);
    }

    /// <summary>Checks the fence (F1): after this returns, everything flushed before the call was flushed by the primary.</summary>
    /// <exception cref="FenceLostException">The own name is gone: exit 75.</exception>
    /// <exception cref="IOException">The look-up failed: exit 74.</exception>
    public void Check()
    {
        if (!_fs.Exists(_path)) throw new FenceLostException($"{_path} is gone: {WhereItIs()}", Epoch);
    }

    /// <summary>Says what became of the own name, as far as can be seen.</summary>
    private string WhereItIs()
    {
        try
        {
            return Find(_fs, _dir, _uuid) is { } now
                ? $"another process has claimed epoch {now}, and this one is no longer primary"
                : "nobody has claimed an epoch after it, so it was removed, or its directory was. Nothing more is written; put it back from a copy";
        }
        catch (IOException e)
        {
            return $"it was removed with its directory, or the file system is gone: {e.Message}";
        }
    }
}

/// <summary>
/// The own epoch's file is gone, nearly always because another process has claimed a later epoch. This process is no longer primary: it
/// acknowledges nothing more and ends (exit 75).
/// </summary>
public sealed class FenceLostException(string what, Epoch epoch) : Exception(what)
{
    public const int ExitCode = 75;

    public Epoch Epoch { get; } = epoch;
}
