using System.Text;

namespace Ambrosia.Log;

/// <summary>
/// <c>replica.&lt;name&gt;</c>: held for as long as the replica of that name runs, so that nobody runs twice under one name and a primary
/// knows whom it may give a checkpoint to (log-format L7.7). The file is never removed. Nothing but convenience rests on it.
/// </summary>
public sealed class ReplicaLock : IDisposable
{
    private const int AddressBytesMax = 255;

    private readonly IFileLock _lock;

    private ReplicaLock(IFileLock held) => _lock = held;

    /// <summary>Takes the name; null: another process has it, or looks who is there. Try again for a while before believing it.</summary>
    public static ReplicaLock? TryTake(IFileSystem fs, string dir, string replica)
    {
        IFileLock? held = fs.TryLock(Path.Combine(dir, new ReplicaFileName(replica).ToString()));
        if (held is null) return null;
        held.File.SetLength(0); // the address of the process before is nobody's
        return new ReplicaLock(held);
    }

    /// <summary>States where callers' queries are taken.</summary>
    /// <param name="address">ASCII, at most 255 characters.</param>
    public void StateAddress(string address) => _lock.File.Write(Encoding.ASCII.GetBytes(address + "\n"), 0);

    /// <summary>
    /// Names that are held now, in ordinal order. Shares each lock that is free for a moment: two that look at once must not take each
    /// other for a replica that runs.
    /// </summary>
    public static IReadOnlyList<string> Present(IFileSystem fs, string dir)
    {
        var present = new List<string>();
        foreach (string name in fs.List(dir))
        {
            if (ReplicaFileName.TryParse(name) is not { } file) continue;
            using IFile looked = fs.Open(Path.Combine(dir, name), FileUse.Read);
            if (!looked.TryLock(FileLockKind.Shared)) present.Add(file.Replica);
        }
        return present;
    }

    /// <summary>The replicas that run and have stated an address, in the order of their names.</summary>
    /// <param name="except">Not this one.</param>
    public static IReadOnlyList<ReplicaAddress> Addresses(IFileSystem fs, string dir, string except)
    {
        var found = new List<ReplicaAddress>();
        foreach (string replica in Present(fs, dir))
            if (replica != except && ReadAddress(fs, Path.Combine(dir, new ReplicaFileName(replica).ToString())) is { } address)
                found.Add(new ReplicaAddress(replica, address));
        return found;
    }

    private static string? ReadAddress(IFileSystem fs, string path)
    {
        Span<byte> bytes = stackalloc byte[AddressBytesMax + 1];
        using IFile file = fs.Open(path, FileUse.Read);
        ReadOnlySpan<byte> read = bytes[..file.Read(bytes, 0)];
        int end = read.IndexOf((byte)'\n'); // without one it is being written, or nothing of ours
        return end > 0 && !read[..end].ContainsAnyExceptInRange((byte)'!', (byte)'~') ? Encoding.ASCII.GetString(read[..end]) : null;
    }

    public void Dispose() => _lock.Dispose();
}
