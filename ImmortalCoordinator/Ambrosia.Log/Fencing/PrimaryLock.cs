using System.Buffers.Binary;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Fencing;

/// <summary>
/// Holds the lock <c>primary.&lt;n&gt;.&lt;replica&gt;</c>. Its first 8 bytes count heartbeats, and the next 8 number the segment that was
/// written then; behind them stands through which mount the claimer sees the directory, up to where the log was durable, whether the claim
/// was won, and by which numbers peers know the claims (protocol P6.12). They are never flushed. On beats and number rests nothing but how
/// long a waiter waits, and that a segment which is gone is missed; on the mount, who may follow without a proof; on the position, that
/// pages which were there are missed; on the claims, that copies are told apart. What was durable before it was written is so
/// whatever became of this file, so any version of it says what is true. The commit pump writes a heartbeat after a fence check and never
/// while a flush is outstanding, so that a stuck disk is silent. One thread.
/// </summary>
public sealed class PrimaryLock : IDisposable
{
    private const int SegmentOffset = sizeof(ulong), MountOffset = 2 * sizeof(ulong), DurableOffset = MountOffset + MountId.Bytes,
        WonOffset = DurableOffset + sizeof(ulong), ContentBytes = WonOffset + sizeof(ulong),
        ClaimsBytes = ClaimHistory.CountMax * ClaimHistory.ClaimBytes;

    private readonly IFileLock _lock;
    private readonly MountId _mount;
    private ulong _beats;

    /// <param name="mount">The mount through which the claimer sees the directory; one that names none where that does not matter.</param>
    /// <param name="claims">The numbers that the claims up to this one have drawn.</param>
    internal PrimaryLock(IFileLock held, string path, MountId mount, ClaimHistory claims)
    {
        _lock = held;
        Path = path;
        _mount = mount;
        Claims = claims;
    }

    public string Path { get; }

    /// <summary>The numbers that this claim and those before it have drawn, as far as the directory says them.</summary>
    public ClaimHistory Claims { get; }

    /// <summary>Writes the next heartbeat.</summary>
    /// <param name="segment">The number of the segment that this primary writes; 0 leaves it unsaid.</param>
    /// <param name="durable">Everything of the log below this is flushed and fence-checked; 0 leaves it unsaid.</param>
    public void Beat(ulong segment = 0, Lsn durable = default)
    {
        Span<byte> bytes = stackalloc byte[ContentBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, ++_beats);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[SegmentOffset..], segment);
        _mount.Write(bytes[MountOffset..]);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[DurableOffset..], durable.Value);
        bytes[WonOffset] = 1;
        _lock.File.Write(bytes, 0);
    }

    /// <summary>
    /// Writes through which mount the claimer sees the directory and the numbers of the claims, before it claims, and with it the room that
    /// all beats need. On a full disk there is none, and the beats are tried later.
    /// </summary>
    /// <returns>The numbers that the file says; none where they could not be written.</returns>
    internal static ClaimHistory WriteClaim(IFileLock held, MountId mount, ClaimHistory claims)
    {
        Span<byte> bytes = stackalloc byte[ContentBytes + ClaimsBytes + sizeof(uint)];
        bytes.Clear();
        mount.Write(bytes[MountOffset..]);
        Span<byte> stated = bytes.Slice(ContentBytes, ClaimsBytes);
        claims.ToBytes().CopyTo(stated);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[(ContentBytes + ClaimsBytes)..], Crc32C.Of(stated));
        try
        {
            held.File.Write(bytes, 0);
            return claims;
        }
        catch (IOException e) when (!mount.IsKnown && IFileSystem.IsDiskFull(e))
        {
            return ClaimHistory.None; // peers take a claim without a number; a mount, which others need, is waited for
        }
    }

    /// <summary>
    /// Writes that the claim was won, so that a loser which stands still before it removes its own lock is taken for what it is.
    /// </summary>
    internal static void WriteWon(IFileLock held)
    {
        Span<byte> bytes = [1, 0, 0, 0, 0, 0, 0, 0];
        try
        {
            held.File.Write(bytes, WonOffset);
        }
        catch (IOException)
        {
            // The first beat says the same; until then all who want the epoch are waited for.
        }
    }

    /// <summary>
    /// Returns the paths of those locks of an epoch that mean something: of who has won it, or while none is known to have, of all who
    /// want it. A loser that was stopped or killed before it removed its own would be waited for in place of the primary.
    /// </summary>
    internal static IReadOnlyList<string> Standing(IFileSystem fs, string dir, Epoch epoch)
    {
        string[] all = [.. Of(fs, dir, epoch)];
        if (all.Length < 2) return all;
        string[] won = [.. all.Where(path => HasWon(fs, path))];
        return won.Length > 0 ? won : all;
    }

    /// <summary>Returns true when the claimer of a lock is known to have won its epoch: it says so, or has beaten.</summary>
    internal static bool HasWon(IFileSystem fs, string path)
    {
        Span<byte> bytes = stackalloc byte[ContentBytes];
        bytes.Clear();
        try
        {
            return ReadAt(fs, path, 0, bytes) is not null && (BinaryPrimitives.ReadUInt64LittleEndian(bytes) > 0 || bytes[WonOffset] == 1);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            return false;
        }
    }

    /// <summary>
    /// Returns the path of the lock that an observer of an epoch is to watch in place of one whose claimer is not known to have won.
    /// </summary>
    public static string Watched(IFileSystem fs, string dir, Epoch epoch, string path) =>
        !HasWon(fs, path) && Standing(fs, dir, epoch) is [var winner] ? winner : path;

    /// <summary>
    /// Returns the mount through which the claimer of an epoch saw the directory; null where that is not known.
    /// </summary>
    internal static MountId? ReadMount(IFileSystem fs, string dir, Epoch epoch)
    {
        Span<byte> bytes = stackalloc byte[MountId.Bytes];
        MountId? found = null;
        foreach (string path in Standing(fs, dir, epoch))
        {
            if (ReadAt(fs, path, MountOffset, bytes) is not { } count) continue; // it was a loser's
            if (found is not null || count < bytes.Length) return null; // two want the epoch, or one says nothing
            found = MountId.Read(bytes);
        }
        return found is { IsKnown: true } ? found : null;
    }

    /// <summary>
    /// Returns the numbers that the claims up to that of an epoch have drawn, as the winner's file has them. There are none where the file
    /// is gone, or does not say that it is the winner's.
    /// </summary>
    internal static ClaimHistory ReadClaims(IFileSystem fs, string dir, Epoch epoch)
    {
        ClaimHistory? found = Standing(fs, dir, epoch) is [var path] && HasWon(fs, path) ? TryReadClaims(fs, path) : null;
        return found?.Last.Epoch == epoch ? found : ClaimHistory.None;
    }

    private static ClaimHistory? TryReadClaims(IFileSystem fs, string path)
    {
        Span<byte> bytes = stackalloc byte[ClaimsBytes + sizeof(uint)];
        try
        {
            Span<byte> stated = bytes[..ClaimsBytes];
            if (ReadAt(fs, path, ContentBytes, bytes) != bytes.Length
                || BinaryPrimitives.ReadUInt32LittleEndian(bytes[ClaimsBytes..]) != Crc32C.Of(stated)) return null; // not written whole
            int claims = (stated.LastIndexOfAnyExcept((byte)0) + ClaimHistory.ClaimBytes) / ClaimHistory.ClaimBytes;
            return ClaimHistory.TryRead(stated[..(claims * ClaimHistory.ClaimBytes)]);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            return null; // it helps to tell copies apart, and may be missing
        }
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
    /// Returns a primary's heartbeat counter as an observer sees it: 0 before the first heartbeat, null when the file is gone or cannot be
    /// read. Then only the lock tells whether the primary lives.
    /// </summary>
    public static ulong? ReadBeat(IFileSystem fs, string path)
    {
        Span<byte> bytes = stackalloc byte[8];
        try
        {
            if (ReadAt(fs, path, 0, bytes) is not { } count) return null;
            return count == bytes.Length ? BinaryPrimitives.ReadUInt64LittleEndian(bytes) : 0;
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            return null;
        }
    }

    /// <summary>
    /// Returns the position below which everything was durable at the last heartbeat of a lock's primary; 0 when that is not said, or
    /// cannot be read.
    /// </summary>
    internal static Lsn ReadDurable(IFileSystem fs, string path)
    {
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        try
        {
            if (ReadAt(fs, path, DurableOffset, bytes) != bytes.Length) return Lsn.Zero;
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            return Lsn.Zero;
        }
        ulong durable = BinaryPrimitives.ReadUInt64LittleEndian(bytes);
        return durable < Lsn.Limit ? new Lsn(durable) : Lsn.Zero;
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
