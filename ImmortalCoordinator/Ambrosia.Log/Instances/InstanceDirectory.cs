using System.Buffers.Binary;
using System.Text;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Instances;

/// <summary>
/// Reads and creates the file <c>instance</c> of a replica set's directory (log-format L1.2, L1.3). Any number of processes may create at
/// once: the first link wins, and all of them return the same identity. Any thread.
/// </summary>
public static class InstanceDirectory
{
    private const string FileName = "instance";

    /// <summary>The directory of the contract manifests (log-format L1.6), which say nothing of whose log it is.</summary>
    public const string Contracts = "contracts";

    /// <summary>Reads which instance the directory belongs to; the result is null when there is no instance in it.</summary>
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

    /// <summary>
    /// Looks for a log whose file <c>instance</c> is gone: a segment, or an epoch that was claimed, is no rest of a creation, and
    /// nothing is made in its place.
    /// </summary>
    /// <exception cref="LogDamage">There is one.</exception>
    public static void RefuseNameless(IFileSystem fs, string dir)
    {
        if (!fs.Exists(dir)) return;
        foreach (string name in fs.List(dir))
            if ((SegmentFileName.TryParse(name) is not null || EpochFileName.TryParse(name) is { Epoch.Value: > 0 })
                && TryRead(fs, dir) is null) // another process may have created it since
                throw new LogDamage(
                    Path.Combine(dir, FileName), 0, null, $"the file that says whose log this is, since there is {name}", "no such file");
    }

    /// <summary>Creates an instance, or returns the one that another process created first.</summary>
    /// <param name="uuid">The uuid of the new instance; every caller brings its own.</param>
    /// <exception cref="InstanceExistsException">The directory holds more than an unfinished creation.</exception>
    public static InstanceIdentity Create(
        IFileSystem fs, string dir, string name, ushort shard, Guid uuid, long nowMicros, string replica, ICrashPoints crash)
    {
        if (!Names.IsValid(name)) throw new ArgumentException($"'{name}' is no name of an instance (protocol P1.5)", nameof(name));
        if (!Names.IsValid(replica)) throw new ArgumentException($"'{replica}' is no name of a replica (protocol P1.5)", nameof(replica));
        MakeDurably(fs, dir);
        if (TryRead(fs, dir) is { } there)
        {
            fs.FlushDirectory(dir); // the creator may have died before its flush
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
        if (TryName(fs, temporary, Path.Combine(dir, FileName)))
        {
            fs.FlushDirectory(dir);
            crash.Hit("create.afterInstance");
            RemoveOthers(fs, dir, uuid);
            return mine;
        }
        fs.Delete(epoch);
        fs.Delete(temporary);
        fs.FlushDirectory(dir); // makes the winner's link durable as well
        return TryRead(fs, dir)
            ?? throw new LogDamage(Path.Combine(dir, FileName), 0, null, "the instance that another process created", "nothing");
    }

    /// <summary>Makes the directory of an instance that is created later, and refuses what <see cref="Create"/> would refuse.</summary>
    /// <exception cref="InstanceExistsException">The directory holds more than an unfinished creation.</exception>
    public static void Prepare(IFileSystem fs, string dir)
    {
        MakeDurably(fs, dir);
        if (OtherFile(fs, dir) is { } other && TryRead(fs, dir) is null) throw new InstanceExistsException(dir, other);
    }

    /// <summary>
    /// Makes every level of the path that is missing, and flushes each before the one below it is made. Whoever finds a level knows that
    /// all above it but one are durable, and flushes that one.
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

    /// <summary>Gives the file its name; false when the name is taken, or when the winner has removed our file already.</summary>
    private static bool TryName(IFileSystem fs, string temporary, string path)
    {
        try
        {
            return fs.TryName(temporary, path);
        }
        catch (FileNotFoundException) when (fs.Exists(path))
        {
            return false;
        }
    }

    private static string? OtherFile(IFileSystem fs, string dir)
    {
        foreach (string name in fs.List(dir))
            if (name != Contracts && !IsUnfinishedCreation(name)) return name;
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

/// <summary>Encodes and decodes the file <c>instance</c> (log-format L1.2).</summary>
internal static class InstanceFile
{
    public const int BytesMax = FixedBytes + 1 + Names.CharsMax + 4;

    private const ushort Format = 1;
    private const int FixedBytes = 8 + 2 + 2 + 16 + 8;

    private static ReadOnlySpan<byte> Magic => "AMBRINST"u8;

    public static byte[] Write(InstanceIdentity identity)
    {
        byte[] name = Encoding.ASCII.GetBytes(identity.Name);
        byte[] to = new byte[FixedBytes + 1 + name.Length + 4];
        Magic.CopyTo(to);
        BinaryPrimitives.WriteUInt16LittleEndian(to.AsSpan(8), Format);
        BinaryPrimitives.WriteUInt16LittleEndian(to.AsSpan(10), identity.Shard);
        identity.Uuid.TryWriteBytes(to.AsSpan(12), bigEndian: true, out _);
        BinaryPrimitives.WriteInt64LittleEndian(to.AsSpan(28), identity.CreatedMicros);
        to[FixedBytes] = (byte)name.Length;
        name.CopyTo(to.AsSpan(FixedBytes + 1));
        BinaryPrimitives.WriteUInt32LittleEndian(to.AsSpan(to.Length - 4), Crc32C.Of(to.AsSpan(0, to.Length - 4)));
        return to;
    }

    /// <exception cref="LogDamage">The bytes are not such a file, or a newer version wrote it.</exception>
    public static InstanceIdentity Read(ReadOnlySpan<byte> from, string file)
    {
        if (from.Length is < FixedBytes + 6 or > BytesMax)
            throw new LogDamage(file, 0, null, $"{FixedBytes + 6} to {BytesMax} bytes", $"{from.Length}");
        uint crc = Crc32C.Of(from[..^4]), stated = BinaryPrimitives.ReadUInt32LittleEndian(from[^4..]);
        if (crc != stated) throw new LogDamage(file, from.Length - 4, null, $"CRC 0x{crc:X8}", $"0x{stated:X8}");
        if (!from.StartsWith(Magic)) throw new LogDamage(file, 0, null, "AMBRINST", Convert.ToHexString(from[..8]));
        ushort format = BinaryPrimitives.ReadUInt16LittleEndian(from[8..]);
        if (format != Format) throw new LogDamage(file, 8, null, $"format {Format}", $"{format}: written by a newer version");
        string name = Encoding.ASCII.GetString(from[(FixedBytes + 1)..^4]);
        if (from[FixedBytes] != name.Length || !Names.IsValid(name))
            throw new LogDamage(file, FixedBytes, null, "an instance's name", $"'{name}' with length {from[FixedBytes]}");
        return new InstanceIdentity(
            name, BinaryPrimitives.ReadUInt16LittleEndian(from[10..]),
            new Guid(from.Slice(12, 16), bigEndian: true), BinaryPrimitives.ReadInt64LittleEndian(from[28..]));
    }
}

/// <summary>An instance cannot be created in a directory that holds something else already (log-format L1.3).</summary>
public sealed class InstanceExistsException(string directory, string found)
    : Exception($"{directory} holds {found}, so no new instance is created in it; choose an empty directory, or remove what is there")
{
    public string Directory { get; } = directory;
}
