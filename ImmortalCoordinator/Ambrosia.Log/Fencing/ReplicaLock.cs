using System.Buffers.Binary;
using System.Text;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Fencing;

/// <summary>
/// Holds <c>replica.&lt;name&gt;</c> for as long as the replica of that name runs, so that nobody runs twice under one name and a primary
/// knows whom it may assign a checkpoint to (log-format L7.7). The file is never removed. Nothing but convenience rests on it.
/// </summary>
public sealed class ReplicaLock : IDisposable
{
    private const int AddressBytesMax = 247;

    /// <summary>Behind the address stands what the replica's process knows of the log's formats.</summary>
    private const int FeaturesOffset = AddressBytesMax + 1;

    /// <summary>Behind that stands the place up to which the replica's state was found to be another's.</summary>
    private const int AgreedOffset = FeaturesOffset + sizeof(ulong);

    /// <summary>Behind that a replica that follows counts while it moves, and states how far its app has executed the log.</summary>
    private const int MovesOffset = AgreedOffset + sizeof(ulong);

    private const int MoveBytes = 2 * sizeof(ulong);

    private readonly IFileLock _lock;
    private ulong _moves;

    private ReplicaLock(IFileLock held) => _lock = held;

    /// <summary>
    /// Takes the name. Returns null when another process has it, or is listing the running replicas at this moment; a caller tries again
    /// for a while before it believes the first.
    /// </summary>
    public static ReplicaLock? TryTake(IFileSystem fs, string dir, string replica)
    {
        IFileLock? held = fs.TryLock(Path.Combine(dir, new ReplicaFileName(replica).ToString()));
        if (held is null) return null;
        // The file still states the address and the features of the process before; what the replica agreed with stays.
        Span<byte> own = stackalloc byte[AgreedOffset];
        own.Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(own[FeaturesOffset..], LogFeatures.Version);
        held.File.Write(own, 0);
        held.File.Write(own[..MoveBytes], MovesOffset); // the first bytes of an address that is not there are zeros
        return new ReplicaLock(held);
    }

    /// <summary>Writes the address at which this replica takes callers' queries.</summary>
    /// <param name="address">ASCII, at most 247 characters; a longer one is not published, and nobody asks this replica.</param>
    public void PublishAddress(string address)
    {
        if (address.Length <= AddressBytesMax) _lock.File.Write(Encoding.ASCII.GetBytes(address + "\n"), 0);
    }

    /// <summary>
    /// Writes that this replica moves, and how far its app has executed the log. It is never flushed, and nothing rests on it but whom a
    /// primary that ends takes for its successor.
    /// </summary>
    /// <param name="executed">Zero: this replica could not go on now.</param>
    public void PublishMove(Lsn executed)
    {
        Span<byte> bytes = stackalloc byte[MoveBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, ++_moves);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[sizeof(ulong)..], executed.Value);
        try
        {
            _lock.File.Write(bytes, MovesOffset);
        }
        catch (IOException)
        {
            // A replica that cannot say that it moves is taken for one that stands still.
        }
    }

    /// <summary>
    /// Returns what a replica wrote when it moved last; zeros where its process has not, or is of a build that does not say it.
    /// </summary>
    public static FollowerMove ReadMove(IFileSystem fs, string dir, string replica)
    {
        Span<byte> bytes = stackalloc byte[MoveBytes];
        using IFile? file = TryOpen(fs, Path.Combine(dir, new ReplicaFileName(replica).ToString()));
        if (file?.Read(bytes, MovesOffset) != bytes.Length) return default;
        ulong executed = BinaryPrimitives.ReadUInt64LittleEndian(bytes[sizeof(ulong)..]);
        return new FollowerMove(BinaryPrimitives.ReadUInt64LittleEndian(bytes), executed < Lsn.Limit ? new Lsn(executed) : Lsn.Zero);
    }

    /// <summary>
    /// Returns the names that are held now, in ordinal order. Each lock that is free is shared for a moment, because two processes that
    /// list at once must not take each other for a running replica.
    /// </summary>
    /// <param name="except">This replica is left out; null: none is.</param>
    public static IReadOnlyList<string> ListRunning(IFileSystem fs, string dir, string? except = null)
    {
        var present = new List<string>();
        foreach (string name in fs.List(dir))
        {
            if (ReplicaFileName.TryParse(name) is not { } file || file.Replica == except) continue;
            using IFile? looked = TryOpen(fs, Path.Combine(dir, name));
            if (looked?.TryLock(FileLockKind.Shared) == false) present.Add(file.Replica);
        }
        return present;
    }

    /// <summary>Opens a lock's file to look at it; null when somebody has removed it meanwhile, which is no failure of the disk.</summary>
    private static IFile? TryOpen(IFileSystem fs, string path)
    {
        try
        {
            return fs.Open(path, FileUse.Read);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    /// <summary>Returns the replicas that run and have published an address, in the order of their names.</summary>
    /// <param name="except">This replica is left out.</param>
    public static IReadOnlyList<ReplicaAddress> ListAddresses(IFileSystem fs, string dir, string except)
    {
        var found = new List<ReplicaAddress>();
        foreach (string replica in ListRunning(fs, dir, except))
            if (ReadAddress(fs, Path.Combine(dir, new ReplicaFileName(replica).ToString())) is { } address)
                found.Add(new ReplicaAddress(replica, address));
        return found;
    }

    /// <summary>Writes that the state of this replica has been found to be another's at this place. It is never flushed.</summary>
    public static void PublishAgreed(IFileSystem fs, string dir, string replica, Lsn place)
    {
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, place.Value);
        using IFile file = fs.Open(Path.Combine(dir, new ReplicaFileName(replica).ToString()), FileUse.ReadWrite);
        file.Write(bytes, AgreedOffset);
    }

    /// <summary>
    /// Returns the highest place at which the state of one of these replicas has been found to be that of a second one, or null.
    /// </summary>
    public static Lsn? FindAgreed(IFileSystem fs, string dir, IEnumerable<string> replicas)
    {
        Lsn? agreed = null;
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        foreach (string replica in replicas)
        {
            using IFile? file = TryOpen(fs, Path.Combine(dir, new ReplicaFileName(replica).ToString()));
            if (file is null) continue;
            ulong place = file.Read(bytes, AgreedOffset) == bytes.Length ? BinaryPrimitives.ReadUInt64LittleEndian(bytes) : 0;
            agreed = Lsn.Max(agreed ?? Lsn.Zero, place < Lsn.Limit ? new Lsn(place) : Lsn.Zero);
        }
        return agreed;
    }

    /// <summary>
    /// Returns the lowest number of features (<see cref="LogFeatures"/>) that one of these replicas states: what a primary may count on
    /// with all of them. 0: one of them states none. A primary alone may count on its own.
    /// </summary>
    public static ulong LowestFeatures(IFileSystem fs, string dir, IEnumerable<string> replicas)
    {
        ulong lowest = LogFeatures.Version;
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        foreach (string replica in replicas)
        {
            using IFile? file = TryOpen(fs, Path.Combine(dir, new ReplicaFileName(replica).ToString()));
            bool isStated = file?.Read(bytes, FeaturesOffset) == bytes.Length;
            lowest = Math.Min(lowest, isStated ? BinaryPrimitives.ReadUInt64LittleEndian(bytes) : 0);
        }
        return lowest;
    }

    private static string? ReadAddress(IFileSystem fs, string path)
    {
        Span<byte> bytes = stackalloc byte[FeaturesOffset];
        using IFile? file = TryOpen(fs, path);
        if (file is null) return null;
        ReadOnlySpan<byte> read = bytes[..file.Read(bytes, 0)];
        int end = read.IndexOf((byte)'\n'); // a line without an end is being written, or is nothing of ours
        return end > 0 && !read[..end].ContainsAnyExceptInRange((byte)'!', (byte)'~') ? Encoding.ASCII.GetString(read[..end]) : null;
    }

    public void Dispose() => _lock.Dispose();
}

/// <summary>
/// Numbers what coordinators know of a log's formats beyond their versions: kinds of records, flags of pages, and what else a log may hold
/// (log-format L7.9). The numbers are one line, and who knows one of them knows all below it. Each replica states its own while it runs
/// (<see cref="ReplicaLock"/>), so that a primary writes what is new only while every replica that is there can read it.
/// </summary>
internal static class LogFeatures
{
    /// <summary>This build knows so much. A build that knows more has the next number, and a row in the document.</summary>
    public const ulong Version = 1;
}
