namespace Ambrosia.Log;

/// <summary>
/// <c>replica.&lt;name&gt;</c>: held for as long as the replica of that name runs, so that nobody runs twice under one name and a primary
/// knows whom it may give a checkpoint to (log-format L7.7). The file is never removed. Nothing but convenience rests on it.
/// </summary>
public sealed class ReplicaLock : IDisposable
{
    private readonly IFileLock _lock;

    private ReplicaLock(IFileLock held) => _lock = held;

    /// <summary>Takes the name; null: another process has it, or looks who is there. Try again for a while before believing it.</summary>
    public static ReplicaLock? TryTake(IFileSystem fs, string dir, string replica)
    {
        IFileLock? held = fs.TryLock(Path.Combine(dir, new ReplicaFileName(replica).ToString()));
        return held is null ? null : new ReplicaLock(held);
    }

    /// <summary>Names that are held now, in ordinal order. Holds each lock that is free for a moment.</summary>
    public static IReadOnlyList<string> Present(IFileSystem fs, string dir)
    {
        var present = new List<string>();
        foreach (string name in fs.List(dir))
        {
            if (ReplicaFileName.TryParse(name) is not { } file) continue;
            using IFileLock? free = fs.TryLock(Path.Combine(dir, name));
            if (free is null) present.Add(file.Replica);
        }
        return present;
    }

    public void Dispose() => _lock.Dispose();
}
