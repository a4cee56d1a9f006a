using System.Buffers.Binary;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Fencing;

/// <summary>
/// Holds the lock <c>primary.&lt;n&gt;.&lt;replica&gt;</c>. Its first 8 bytes count heartbeats, and the next 8 number the segment that was
/// written then; behind them stands through which mount the claimer sees the directory. They are never flushed. On the first two rests
/// nothing but how long a waiter waits, and that a segment which is gone is missed; on the mount, who may follow without a proof.
/// The commit pump writes a heartbeat after a fence check and never while a flush is outstanding, so that a stuck disk is silent. One
/// thread.
/// </summary>
public sealed class PrimaryLock : IDisposable
{
    private const int MountOffset = 2 * sizeof(ulong);

    private readonly IFileLock _lock;
    private ulong _beats;

    internal PrimaryLock(IFileLock held, string path)
    {
        _lock = held;
        Path = path;
    }

    public string Path { get; }

    /// <summary>Writes the next heartbeat.</summary>
    /// <param name="segment">The number of the segment that this primary writes; 0 leaves it unsaid.</param>
    public void Beat(ulong segment = 0)
    {
        Span<byte> bytes = stackalloc byte[16];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, ++_beats);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[8..], segment);
        _lock.File.Write(bytes, 0);
    }

    /// <summary>Writes through which mount the claimer sees the directory, before it claims.</summary>
    internal static void WriteMount(IFileLock held, MountId mount)
    {
        Span<byte> bytes = stackalloc byte[MountId.Bytes];
        mount.Write(bytes);
        held.File.Write(bytes, MountOffset);
    }

    /// <summary>
    /// Returns the mount through which the claimer of an epoch saw the directory; null where that is not known.
    /// </summary>
    internal static MountId? ReadMount(IFileSystem fs, string dir, Epoch epoch)
    {
        Span<byte> bytes = stackalloc byte[MountId.Bytes];
        MountId? found = null;
        foreach (string path in Of(fs, dir, epoch))
        {
            if (ReadAt(fs, path, MountOffset, bytes) is not { } count) continue; // it was a loser's
            if (found is not null || count < bytes.Length) return null; // two want the epoch, or one says nothing
            found = MountId.Read(bytes);
        }
        return found is { IsKnown: true } ? found : null;
    }

    /// <summary>Returns the paths of an epoch's locks: of who has claimed it, and of those who try.</summary>
    internal static IEnumerable<string> Of(IFileSystem fs, string dir, Epoch epoch)
    {
        foreach (string name in fs.List(dir))
            if (PrimaryFileName.TryParse(name) is { } file && file.Epoch == epoch) yield return System.IO.Path.Combine(dir, name);
    }

    /// <summary>
    /// Returns true when this replica is the primary of this epoch, or was it and no later one has removed its lock file.
    /// </summary>
    public static bool IsThere(IFileSystem fs, string dir, Epoch epoch, string replica) =>
        fs.Exists(System.IO.Path.Combine(dir, new PrimaryFileName(epoch, replica).ToString()));

    /// <summary>
    /// Returns the number of the segment that the primary of a lock wrote at its last heartbeat: 0 when that does not say, null when it has
    /// not beaten, so that perhaps it has no segment, or when that cannot be read: it is a hint, which may be missing.
    /// </summary>
    internal static ulong? ReadSegment(IFileSystem fs, string path)
    {
        Span<byte> bytes = stackalloc byte[16];
        try
        {
            if (ReadAt(fs, path, 0, bytes) is not { } count || count < 8 || BinaryPrimitives.ReadUInt64LittleEndian(bytes) == 0) return null;
            return count < bytes.Length ? 0 : BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            return null;
        }
    }

    /// <summary>
    /// Returns a primary's heartbeat counter as an observer sees it: 0 before the first heartbeat, null when the file is gone.
    /// </summary>
    public static ulong? ReadBeat(IFileSystem fs, string path)
    {
        Span<byte> bytes = stackalloc byte[8];
        if (ReadAt(fs, path, 0, bytes) is not { } count) return null;
        return count == bytes.Length ? BinaryPrimitives.ReadUInt64LittleEndian(bytes) : 0;
    }

    /// <summary>Reads what a lock's file holds there, and returns how many bytes it is; null when the file is gone.</summary>
    private static int? ReadAt(IFileSystem fs, string path, long offset, Span<byte> bytes)
    {
        try
        {
            using IFile file = fs.Open(path, FileUse.Read);
            return file.Read(bytes, offset);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    public void Dispose() => _lock.Dispose();
}
