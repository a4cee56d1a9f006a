using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Log.Checkpoints;

/// <summary>
/// Writes one checkpoint (log-format L6): a temporary file that is flushed, read back past the page cache and verified, and only then gets
/// its name. The calls come in this order: Write…, Finish, Publish. Dispose without Publish leaves an unfinished file. One thread.
/// </summary>
public sealed class CheckpointWriter : IDisposable
{
    private readonly LogLocation _location;
    private readonly CheckpointHeader _header;
    private readonly CheckpointMemory _memory;
    private readonly string _temporary;
    private CheckpointChunks? _chunks; // null when the file is closed
    private SectionHashes _hashes; // hashes of everything that was given, written or not
    private FinishedCheckpoint? _finished;

    /// <summary>Begins a temporary file and writes the header.</summary>
    /// <param name="memory">Nobody else uses it until the checkpoint is finished or abandoned; null makes the writer take memory of its
    /// own.</param>
    public CheckpointWriter(
        IFileSystem fs, string dir, InstanceIdentity identity, CheckpointHeader header, ICrashPoints crash, CheckpointMemory? memory = null)
    {
        if (header.Uuid != identity.Uuid || header.Shard != identity.Shard)
            throw new ArgumentException($"a header of instance {header.Uuid}", nameof(header));
        _location = new LogLocation(fs, dir, identity) { Crash = crash };
        _header = header;
        _memory = memory ?? new CheckpointMemory();
        _temporary = _location.PathOf(new TemporaryFileName(header.FileName.ToString(), header.Replica, header.Epoch).ToString());
        fs.Delete(_temporary);
        _chunks = new CheckpointChunks(fs.Create(_temporary), _memory, crash);
        crash.Hit("ckpt.begin");
        Span<byte> bytes = stackalloc byte[CheckpointHeader.BytesMax];
        _chunks.Write(CheckpointSection.Header, bytes[..header.Write(bytes)]);
        _chunks.End();
    }

    /// <summary>The CRC-64/NVME of the image that was given so far, whether or not all of it could be written.</summary>
    public ulong ImageHash => _hashes.Image;

    /// <summary>
    /// Appends to a section: Coordinator, then Outbox, then Image. Parts have any size; the writer divides them into chunks.
    /// </summary>
    public void Write(CheckpointSection section, ReadOnlySpan<byte> content)
    {
        if (_finished is not null || section < Chunks.Section
            || section is not (CheckpointSection.CoordinatorPart or CheckpointSection.Outbox or CheckpointSection.Image))
            throw new InvalidOperationException($"section {section} after {_chunks?.Section ?? CheckpointSection.Trailer}");
        _hashes.Add(section, content);
        _chunks!.Write(section, content);
    }

    /// <summary>Writes the trailer, flushes, and verifies what the device has.</summary>
    /// <exception cref="LogDamage">The device has something else than what was written.</exception>
    public FinishedCheckpoint Finish()
    {
        if (_finished is not null) throw new InvalidOperationException("the checkpoint is finished");
        Chunks.End();
        Span<byte> bytes = stackalloc byte[CheckpointChunk.TrailerBytes];
        var trailer = new PayloadWriter(bytes);
        trailer.U64((ulong)Chunks.Length);
        trailer.U64(_hashes.Digest);
        trailer.U64(_header.Lsn.Value);
        trailer.U32(_header.AppVersion);
        Chunks.Write(CheckpointSection.Trailer, bytes[..trailer.Written]);
        Chunks.End();
        long length = Chunks.Length;
        ulong digest = _hashes.Digest;
        Chunks.Finish();
        _location.Crash.Hit("ckpt.afterFsync");
        Dispose();
        using CheckpointReader reader = CheckpointReader.Open(
            _location.Files, _temporary, _location.Identity, _header.FileName, pastCache: true, _memory);
        if (reader.Digest != digest) throw new LogDamage(_temporary, 0, _header.Lsn, $"digest 0x{digest:X16}", $"0x{reader.Digest:X16}");
        return _finished = new FinishedCheckpoint(_header.FileName, digest, length);
    }

    /// <summary>Gives the checkpoint its name. Returns false when a new primary has removed the unfinished file.</summary>
    /// <param name="stated">Highest position that the log on disk states as durable. A position below the checkpoint's Lsn is refused,
    /// since a crash could then leave a checkpoint of records that the log does not have.</param>
    public bool Publish(Lsn stated)
    {
        if (_finished is null) throw new InvalidOperationException("the checkpoint is not finished");
        if (stated < _header.Lsn)
            throw new InvalidOperationException($"a checkpoint of {_header.Lsn} while only {stated} is stated as durable");
        try
        {
            _location.Files.Rename(_temporary, _location.PathOf(_finished.Name.ToString()));
        }
        catch (FileNotFoundException)
        {
            return false;
        }
        _location.Crash.Hit("ckpt.afterRename");
        _location.Flush();
        _location.Crash.Hit("ckpt.afterDirFsync");
        return true;
    }

    /// <summary>Removes the unfinished file; after Publish there is none.</summary>
    public void Abandon()
    {
        Dispose();
        _location.Files.Delete(_temporary);
    }

    public void Dispose()
    {
        _chunks?.Dispose();
        _chunks = null;
    }

    private CheckpointChunks Chunks => _chunks ?? throw new ObjectDisposedException(nameof(CheckpointWriter));

    /// <summary>Describes a checkpoint that is on disk and verified, and has no name yet.</summary>
    /// <param name="Digest">CRC-64/NVME of the contents of sections 2 to 4.</param>
    public sealed record FinishedCheckpoint(CheckpointFileName Name, ulong Digest, long Bytes);
}
