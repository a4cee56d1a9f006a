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
    private bool _isNamed; // the directory is not flushed yet, where the system refused that

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

    /// <summary>
    /// Gives the checkpoint its name. Returns false when a new primary has removed the unfinished file. Where the system refuses it, it is
    /// called again, and goes on behind what was done.
    /// </summary>
    /// <param name="stated">Highest position that the log on disk states as durable. A position below the checkpoint's Lsn is refused,
    /// since a crash could then leave a checkpoint of records that the log does not have.</param>
    public bool Publish(Lsn stated)
    {
        if (_finished is null) throw new InvalidOperationException("the checkpoint is not finished");
        if (stated < _header.Lsn)
            throw new InvalidOperationException($"a checkpoint of {_header.Lsn} while only {stated} is stated as durable");
        try
        {
            if (!_isNamed) _location.Files.Rename(_temporary, _location.PathOf(_finished.Name.ToString()));
        }
        catch (FileNotFoundException)
        {
            return false;
        }
        _isNamed = true;
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

/// <summary>
/// Divides the sections of a checkpoint into chunks and writes them one behind another (log-format L6). Small parts are gathered; larger
/// ones become chunks by themselves, without a copy. Each chunk's CRC goes on from that of the chunk before. It owns the open file. One
/// thread.
/// </summary>
internal sealed class CheckpointChunks(IFile file, CheckpointMemory memory, ICrashPoints crash) : IDisposable
{
    private const int GatheredBytesMax = 256 << 10;

    private readonly CheckpointSink _sink = new(file, memory.Block);
    private readonly byte[] _gathered = memory.ChunkOf(GatheredBytesMax);
    private int _filled; // bytes of _gathered, which is the next chunk's content so far
    private uint _crc;   // CRC of the chunk before

    /// <summary>The section that was written to last.</summary>
    public CheckpointSection Section { get; private set; } = CheckpointSection.Header;

    /// <summary>The number of bytes of all chunks so far, without what is still gathered.</summary>
    public long Length => _sink.Length;

    /// <summary>Appends to a section, which may not stand before the one that was written to last.</summary>
    public void Write(CheckpointSection section, ReadOnlySpan<byte> content)
    {
        if (section != Section) End();
        Section = section;
        while (content.Length > 0)
        {
            bool isChunk = _filled == 0 && content.Length >= GatheredBytesMax;
            int count = Math.Min(content.Length, isChunk ? CheckpointChunk.ContentBytesMax : GatheredBytesMax - _filled);
            if (isChunk) WriteChunk(content[..count]);
            else Gather(content[..count]);
            content = content[count..];
        }
    }

    /// <summary>Writes what is gathered as a chunk, however little that is; writes nothing when there is none.</summary>
    public void End()
    {
        if (_filled == 0) return;
        WriteChunk(_gathered.AsSpan(0, _filled));
        _filled = 0;
    }

    /// <summary>Brings everything to the device.</summary>
    public void Finish() => _sink.Finish();

    public void Dispose() => _sink.Dispose();

    private void Gather(ReadOnlySpan<byte> content)
    {
        content.CopyTo(_gathered.AsSpan(_filled));
        _filled += content.Length;
        if (_filled == GatheredBytesMax) End();
    }

    private void WriteChunk(ReadOnlySpan<byte> content)
    {
        Span<byte> header = stackalloc byte[CheckpointChunk.HeaderBytes];
        _crc = CheckpointChunk.WriteHeader(header, Section, content, _crc);
        _sink.Write(header);
        _sink.Write(content);
        crash.Hit("ckpt.midWrite");
    }
}
