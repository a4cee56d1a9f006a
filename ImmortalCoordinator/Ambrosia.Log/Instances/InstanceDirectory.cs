using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// The file <c>instance</c> of a replica set's directory and how it comes into being (log-format L1.2, L1.3). Any number of processes may
/// create at once: the link decides, and all of them return the same identity.
/// </summary>
public static class InstanceDirectory
{
    private const string FileName = "instance";

    /// <summary>Who the directory belongs to; null when there is no instance in it.</summary>
    /// <exception cref="LogDamage">The file is damaged.</exception>
    public static InstanceIdentity? TryRead(IFileSystem fs, string dir)
    {
        string path = Path.Combine(dir, FileName);
        try
        {
            using IFile file = fs.Open(path, FileUse.Read);
            Span<byte> bytes = stackalloc byte[InstanceFile.BytesMax + 1];
            int count = file.Read(bytes, 0);
            return InstanceFile.Read(bytes[..count], path);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    /// <summary>Creates an instance, or returns the one that another process created first.</summary>
    /// <param name="uuid">The new instance's; every caller brings its own.</param>
    /// <exception cref="InstanceExistsException">The directory holds more than an unfinished creation.</exception>
    public static InstanceIdentity Create(
        IFileSystem fs, string dir, string name, ushort shard, Guid uuid, long nowMicros, string replica, ICrashPoints crash)
    {
        if (!Names.IsValid(name)) throw new ArgumentException($"'{name}' is no name of an instance (protocol P1.5)", nameof(name));
        if (!Names.IsValid(replica)) throw new ArgumentException($"'{replica}' is no name of a replica (protocol P1.5)", nameof(replica));
        MakeDurably(fs, dir);
        if (TryRead(fs, dir) is { } there)
        {
            fs.FlushDirectory(dir); // its creator may have died before it did
            return there;
        }
        if (OtherFile(fs, dir) is { } other) // another creator may be done already, and at work
            return TryRead(fs, dir) ?? throw new InstanceExistsException(dir, other);

        var mine = new InstanceIdentity(name, shard, uuid, nowMicros);
        string epoch = Path.Combine(dir, new EpochFileName(uuid, new Epoch(0)).ToString());
        string temporary = Path.Combine(dir, new TemporaryFileName($"{FileName}.{uuid:D}", replica, new Epoch(0)).ToString());
        WriteNew(fs, epoch, []);
        WriteNew(fs, temporary, InstanceFile.Write(mine));
        fs.FlushDirectory(dir); // the fence must not be lost where the instance is kept
        crash.Hit("create.beforeInstance");
        if (TryLink(fs, temporary, Path.Combine(dir, FileName)))
        {
            fs.FlushDirectory(dir);
            crash.Hit("create.afterInstance");
            RemoveOthers(fs, dir, uuid);
            return mine;
        }
        fs.Delete(epoch);
        fs.Delete(temporary);
        fs.FlushDirectory(dir); // the winner's link too
        return TryRead(fs, dir)
            ?? throw new LogDamage(Path.Combine(dir, FileName), 0, null, "the instance that another process created", "nothing");
    }

    /// <summary>Makes the directory of an instance to come; refuses what <see cref="Create"/> would refuse.</summary>
    /// <exception cref="InstanceExistsException">It holds more than an unfinished creation.</exception>
    public static void Prepare(IFileSystem fs, string dir)
    {
        MakeDurably(fs, dir);
        if (OtherFile(fs, dir) is { } other && TryRead(fs, dir) is null) throw new InstanceExistsException(dir, other);
    }

    /// <summary>
    /// Every level that is missing, each flushed before the one below it is made: who finds a level knows that all above it but one are
    /// durable, and flushes that one.
    /// </summary>
    private static void MakeDurably(IFileSystem fs, string dir)
    {
        var missing = new Stack<string>();
        string? there = dir;
        for (; there is not null && !fs.Exists(there); there = Path.GetDirectoryName(there)) missing.Push(there);
        FlushParent(fs, there);
        while (missing.TryPop(out string? level))
        {
            fs.CreateDirectory(level);
            FlushParent(fs, level);
        }
    }

    private static void FlushParent(IFileSystem fs, string? path)
    {
        if (Path.GetDirectoryName(path) is { Length: > 0 } parent) fs.FlushDirectory(parent);
    }

    private static void WriteNew(IFileSystem fs, string path, ReadOnlySpan<byte> content)
    {
        using IFile file = fs.Create(path);
        if (content.Length > 0) file.Write(content, 0);
        file.Flush();
    }

    /// <summary>False when the name is taken, or the winner has removed our file already.</summary>
    private static bool TryLink(IFileSystem fs, string temporary, string path)
    {
        try
        {
            return fs.TryLink(temporary, path);
        }
        catch (FileNotFoundException) when (fs.Exists(path))
        {
            return false;
        }
    }

    private static string? OtherFile(IFileSystem fs, string dir)
    {
        foreach (string name in fs.List(dir))
            if (!IsUnfinishedCreation(name)) return name;
        return null;
    }

    private static bool IsUnfinishedCreation(string name) =>
        name.EndsWith(".tmp", StringComparison.Ordinal) || EpochFileName.TryParse(name) is { Epoch.Value: 0 };

    private static void RemoveOthers(IFileSystem fs, string dir, Guid uuid)
    {
        foreach (string name in fs.List(dir))
            if (IsUnfinishedCreation(name) && EpochFileName.TryParse(name)?.Uuid != uuid) fs.Delete(Path.Combine(dir, name));
        fs.FlushDirectory(dir);
    }
}
