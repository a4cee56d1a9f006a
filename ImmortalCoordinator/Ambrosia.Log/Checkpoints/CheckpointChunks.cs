using Ambrosia.Log.Files;

namespace Ambrosia.Log.Checkpoints;

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
