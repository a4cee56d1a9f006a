using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Writes one checkpoint (log-format L6): a temporary file, flushed, read back past the page cache and verified, and only then named.
/// One thread. Order: Write…, Finish, Publish; Dispose without Publish abandons it.
/// </summary>
public sealed class CheckpointWriter : IDisposable
{
    /// <summary>Small stretches come together in chunks of this size; larger ones are chunks by themselves, without a copy.</summary>
    private const int GatheredBytesMax = 256 << 10;

    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly CheckpointHeader _header;
    private readonly InstanceIdentity _identity;
    private readonly ICrashPoints _crash;
    private readonly string _temporary;
    private readonly CheckpointMemory _memory;
    private readonly byte[] _gathered;
    private CheckpointSink? _sink;
    private CheckpointSection _section = CheckpointSection.Header;
    private int _filled;   // bytes of _gathered: the next chunk's content so far
    private uint _crc;     // of the chunk before
    private SectionHashes _hashes; // of everything that was given, written or not
    private FinishedCheckpoint? _finished;

    /// <param name="memory">Nobody else's until the checkpoint is finished or abandoned; null: some of its own.</param>
    public CheckpointWriter(
        IFileSystem fs, string dir, InstanceIdentity identity, CheckpointHeader header, ICrashPoints crash, CheckpointMemory? memory = null)
    {
        if (header.Uuid != identity.Uuid || header.Shard != identity.Shard)
            throw new ArgumentException($"a header of instance {header.Uuid}", nameof(header));
        _fs = fs;
        _dir = dir;
        _identity = identity;
        _header = header;
        _crash = crash;
        _memory = memory ?? new CheckpointMemory();
        _gathered = _memory.ChunkOf(GatheredBytesMax);
        _temporary = Path.Combine(dir, new TemporaryFileName(header.FileName.ToString(), header.Replica, header.Epoch).ToString());
        fs.Delete(_temporary);
        _sink = new CheckpointSink(fs.Create(_temporary), _memory.Block);
        crash.Hit("ckpt.begin");
        _filled = header.Write(_gathered);
        WriteGathered();
    }

    /// <summary>CRC-64/NVME of the image that was given so far, whether or not all of it could be written.</summary>
    public ulong ImageHash => _hashes.Image;

    /// <summary>Appends to a section: Coordinator, then Outbox, then Image. Stretches of any size; chunks are cut here.</summary>
    public void Write(CheckpointSection section, ReadOnlySpan<byte> content)
    {
        if (_finished is not null || section < _section
            || section is not (CheckpointSection.Coordinator or CheckpointSection.Outbox or CheckpointSection.Image))
            throw new InvalidOperationException($"section {section} after {(_finished is null ? _section : CheckpointSection.Trailer)}");
        _hashes.Add(section, content);
        if (section != _section && _filled > 0) WriteGathered();
        _section = section;
        while (content.Length > 0)
        {
            bool isChunk = _filled == 0 && content.Length >= GatheredBytesMax;
            int count = Math.Min(content.Length, isChunk ? CheckpointChunk.ContentBytesMax : GatheredBytesMax - _filled);
            if (isChunk) WriteChunk(content[..count]);
            else Gather(content[..count]);
            content = content[count..];
        }
    }

    /// <summary>Writes the trailer, flushes, and verifies what the device has.</summary>
    /// <exception cref="LogDamage">The device has something else.</exception>
    public FinishedCheckpoint Finish()
    {
        if (_finished is not null) throw new InvalidOperationException("the checkpoint is finished");
        if (_filled > 0) WriteGathered();
        var trailer = new PayloadWriter(_gathered);
        trailer.U64((ulong)Sink.Length);
        trailer.U64(_hashes.Digest);
        trailer.U64(_header.Lsn.Value);
        trailer.U32(_header.AppVersion);
        _filled = trailer.Written;
        _section = CheckpointSection.Trailer;
        WriteGathered();
        long bytes = Sink.Length;
        ulong digest = _hashes.Digest;
        Sink.Finish();
        _crash.Hit("ckpt.afterFsync");
        Dispose();
        using CheckpointReader reader = CheckpointReader.Open(_fs, _temporary, _identity, _header.FileName, pastCache: true, _memory);
        if (reader.Digest != digest) throw new LogDamage(_temporary, 0, _header.Lsn, $"digest 0x{digest:X16}", $"0x{reader.Digest:X16}");
        return _finished = new FinishedCheckpoint(_header.FileName, digest, bytes);
    }

    /// <summary>Gives the checkpoint its name. False: a new primary has removed the unfinished file.</summary>
    /// <param name="stated">
    /// Highest position that the log on disk states as durable (<see cref="LogWriter.Stated"/>, <see cref="LogReader.Stated"/>); below the
    /// checkpoint's Lsn a crash could leave a checkpoint of records that the log does not have, and that is refused here.
    /// </param>
    public bool Publish(Lsn stated)
    {
        if (_finished is null) throw new InvalidOperationException("the checkpoint is not finished");
        if (stated < _header.Lsn)
            throw new InvalidOperationException($"a checkpoint of {_header.Lsn} while only {stated} is stated as durable");
        try
        {
            _fs.Rename(_temporary, Path.Combine(_dir, _finished.Name.ToString()));
        }
        catch (FileNotFoundException)
        {
            return false;
        }
        _crash.Hit("ckpt.afterRename");
        _fs.FlushDirectory(_dir);
        _crash.Hit("ckpt.afterDirFsync");
        return true;
    }

    /// <summary>Removes the unfinished file; nothing happens after Publish.</summary>
    public void Abandon()
    {
        Dispose();
        _fs.Delete(_temporary);
    }

    public void Dispose()
    {
        _sink?.Dispose();
        _sink = null;
    }

    private CheckpointSink Sink => _sink ?? throw new ObjectDisposedException(nameof(CheckpointWriter));

    private void Gather(ReadOnlySpan<byte> content)
    {
        content.CopyTo(_gathered.AsSpan(_filled));
        _filled += content.Length;
        if (_filled == GatheredBytesMax) WriteGathered();
    }

    private void WriteGathered()
    {
        WriteChunk(_gathered.AsSpan(0, _filled));
        _filled = 0;
    }

    private void WriteChunk(ReadOnlySpan<byte> content)
    {
        Span<byte> header = stackalloc byte[CheckpointChunk.HeaderBytes];
        _crc = CheckpointChunk.WriteHeader(header, _section, content, _crc);
        Sink.Write(header);
        Sink.Write(content);
        _crash.Hit("ckpt.midWrite");
    }
}
