using Ambrosia.Log.Files;

namespace Ambrosia.Log.Checkpoints;

/// <summary>
/// Writes a checkpoint's bytes in whole aligned blocks, past the page cache where the file system supports that. Elsewhere it flushes and
/// drops them from the cache step by step, so that gigabytes neither fill the memory nor stand in front of the log's flushes all at once.
/// It owns the open file. One thread.
/// </summary>
internal sealed class CheckpointSink : IDisposable
{
    /// <summary>So many bytes are written between two flushes when the page cache is used.</summary>
    public const long FlushEveryBytes = 8L << 20;

    private const int BlockBytes = CheckpointMemory.BlockBytes;

    private readonly IFile _file;
    private readonly bool _isDirect;
    private readonly AlignedBlock _block;
    private long _written; // bytes in the file, always whole blocks
    private int _filled;   // bytes in _block
    private long _flushed; // ≤ _written

    public CheckpointSink(IFile file, AlignedBlock block)
    {
        _file = file;
        _block = block;
        _isDirect = file.TryWriteDirect();
    }

    /// <summary>The number of bytes given so far.</summary>
    public long Length => _written + _filled;

    public void Write(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            int count = Math.Min(bytes.Length, BlockBytes - _filled);
            bytes[..count].CopyTo(_block.Span[_filled..]);
            _filled += count;
            bytes = bytes[count..];
            if (_filled == BlockBytes) WriteBlock();
        }
    }

    /// <summary>Writes the rest. When it returns, everything is on the device and nothing of it is in the cache.</summary>
    public void Finish()
    {
        long length = Length;
        if (_filled > 0)
        {
            int bytes = _isDirect ? AlignedBlock.RoundUp(_filled) : _filled;
            _block.Span[_filled..bytes].Clear();
            _file.Write(_block.Span[..bytes], _written);
            if (bytes > _filled) _file.SetLength(length);
        }
        _written = length;
        _filled = 0;
        _file.Flush();
        _file.DropCache();
    }

    public void Dispose() => _file.Dispose();

    private void WriteBlock()
    {
        _file.Write(_block.Span, _written);
        _written += BlockBytes;
        _filled = 0;
        if (_isDirect || _written - _flushed < FlushEveryBytes) return;
        _file.Flush();
        _file.DropCache();
        _flushed = _written;
    }
}
