using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Log.Checkpoints;

/// <summary>
/// Reads a checkpoint that was verified as a whole when it was opened. One thread. It uses the memory of one chunk and of the coordinator's
/// part.
/// </summary>
public sealed class CheckpointReader : IDisposable
{
    private readonly IFile _file;
    private readonly CheckpointCursor _cursor;

    private CheckpointReader(IFile file, CheckpointCursor verified, CheckpointHeader header, byte[] coordinator)
    {
        _file = file;
        _cursor = verified;
        Header = header;
        CoordinatorBytes = coordinator;
        Digest = verified.Hashes.Digest;
        ImageHash = verified.Hashes.Image;
        Bytes = verified.Offset;
        verified.Rewind();
    }

    public CheckpointHeader Header { get; }

    /// <summary>The coordinator's part (log-format L6.2), which is one CBOR array.</summary>
    public ReadOnlyMemory<byte> CoordinatorBytes { get; }

    /// <summary>The CRC-64/NVME of the contents of coordinator's part, outbox and image.</summary>
    public ulong Digest { get; }

    /// <summary>
    /// The CRC-64/NVME of the image. Replicas compare this one, since the way in which the outbox's bytes are divided into runs is not part
    /// of the state.
    /// </summary>
    public ulong ImageHash { get; }

    /// <summary>The length of the whole file in bytes.</summary>
    public long Bytes { get; }

    /// <summary>Opens a published checkpoint and verifies all of it.</summary>
    /// <param name="pastCache">True verifies the file on the device, whatever the cache holds, and leaves nothing in the cache.</param>
    /// <exception cref="LogDamage">It is damaged, not whole, or of another instance; an older checkpoint may serve.</exception>
    /// <exception cref="FileNotFoundException">It was removed.</exception>
    public static CheckpointReader Open(IFileSystem fs, string path, InstanceIdentity identity, bool pastCache = false)
    {
        CheckpointFileName name = CheckpointFileName.Parse(Path.GetFileName(path))
            ?? throw new ArgumentException($"{path} is not the name of a checkpoint");
        try
        {
            return Open(fs, path, identity, name, pastCache);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e)) // the file system cannot read what it knows of the file
        {
            throw new LogDamage(path, 0, null, "a file that can be opened", e.Message);
        }
    }

    /// <summary>
    /// Reads what a published checkpoint says of itself, checked only by the CRC of its first chunk. Returns null when that is damaged or
    /// not there; the rest of the file may be damaged all the same.
    /// </summary>
    internal static CheckpointHeader? TryReadHeader(LogLocation location, CheckpointFileName name)
    {
        string path = location.PathOf(name.ToString());
        try
        {
            using IFile file = location.Files.Open(path, FileUse.Read);
            var cursor = new CheckpointCursor(file, path);
            return cursor.Next(out _, out ReadOnlySpan<byte> content) ? ReadHeader(cursor, content, location.Identity, name) : null;
        }
        catch (Exception damage) when (damage is LogDamage or FileNotFoundException)
        {
            return null;
        }
    }

    /// <summary>
    /// Reads the next part of the outbox or the image, in file order; returns false at the end. The content is valid until the next call.
    /// </summary>
    public bool Read(out CheckpointSection section, out ReadOnlySpan<byte> content)
    {
        while (_cursor.Next(out section, out content))
            if (section is CheckpointSection.Outbox or CheckpointSection.Image) return true;
        return false;
    }

    /// <summary>Makes the next <see cref="Read"/> begin at the front again.</summary>
    public void Rewind() => _cursor.Rewind();

    public void Dispose() => _file.Dispose();

    /// <summary>Opens a checkpoint that may still have a temporary name, and verifies all of it.</summary>
    /// <param name="name">The header must state this name.</param>
    /// <param name="memory">Nobody else uses it as long as the reader reads; null makes the reader take memory of its own.</param>
    internal static CheckpointReader Open(
        IFileSystem fs, string path, InstanceIdentity identity, CheckpointFileName name, bool pastCache, CheckpointMemory? memory = null)
    {
        IFile file = fs.Open(path, FileUse.Read);
        try
        {
            if (pastCache) file.DropCache();
            return Verify(file, identity, name, new CheckpointCursor(file, path, pastCache, memory));
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    private static CheckpointReader Verify(IFile file, InstanceIdentity identity, CheckpointFileName name, CheckpointCursor cursor)
    {
        using var coordinator = new MemoryStream();
        CheckpointHeader? header = null;
        long before = 0;
        while (cursor.Next(out CheckpointSection section, out ReadOnlySpan<byte> content))
        {
            if (section == CheckpointSection.Header) header = ReadHeader(cursor, content, identity, name);
            else if (section == CheckpointSection.CoordinatorPart) coordinator.Write(content);
            else if (section == CheckpointSection.Trailer) CheckTrailer(cursor, content, before, header!);
            before = cursor.Offset;
        }
        return new CheckpointReader(file, cursor, header!, coordinator.ToArray());
    }

    /// <summary>Decodes the header's chunk, and checks that it is of this instance and states this name.</summary>
    /// <exception cref="LogDamage">It does not.</exception>
    internal static CheckpointHeader ReadHeader(
        CheckpointCursor cursor, ReadOnlySpan<byte> content, InstanceIdentity identity, CheckpointFileName name)
    {
        CheckpointHeader header;
        try
        {
            header = CheckpointHeader.Read(content);
        }
        catch (ProtocolViolation violation)
        {
            throw cursor.Damage("a checkpoint's header", violation.Message);
        }
        if (header.Uuid != identity.Uuid || header.Shard != identity.Shard)
            throw cursor.Damage($"instance {identity.Uuid} shard {identity.Shard}", $"{header.Uuid} shard {header.Shard}");
        return header.FileName == name ? header : throw cursor.Damage($"the header of {name}", $"that of {header.FileName}");
    }

    private static void CheckTrailer(CheckpointCursor cursor, ReadOnlySpan<byte> content, long before, CheckpointHeader header)
    {
        if (content.Length != CheckpointChunk.TrailerBytes)
            throw cursor.Damage($"a trailer of {CheckpointChunk.TrailerBytes} bytes", $"{content.Length}");
        var reader = PayloadReader.OfFile(content, "L6.5");
        ulong bytes = reader.U64(), digest = reader.U64(), lsn = reader.U64();
        uint appVersion = reader.U32();
        if (bytes != (ulong)before || digest != cursor.Hashes.Digest || lsn != header.Lsn.Value || appVersion != header.AppVersion)
            throw cursor.Damage(
                $"a trailer of {before} bytes, digest 0x{cursor.Hashes.Digest:X16}, Lsn {header.Lsn}, app version {header.AppVersion}",
                $"{bytes} bytes, digest 0x{digest:X16}, Lsn {lsn}, app version {appVersion}");
    }
}
