using System.Buffers;
using System.Runtime.InteropServices;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Outbound;

/// <summary>
/// A stretch of an image behind room for the header of a frame, outside the managed heap: the memory of a large image is free as soon as it
/// was sent, for the next one or for others, and does not wait for a collection. Whoever owns the piece frees it once.
/// </summary>
internal sealed unsafe class NativePiece(int bytes) : MemoryManager<byte>
{
    private readonly Block _block = new(bytes);

    /// <summary>The offset behind the last byte.</summary>
    internal int End { get; set; } = FrameHeader.Bytes;

    internal ReadOnlySpan<byte> Content => GetSpan()[FrameHeader.Bytes..End];

    public override Span<byte> GetSpan() =>
        _block.Start is not null ? new Span<byte>(_block.Start, bytes) : throw new ObjectDisposedException(nameof(NativePiece));

    /// <summary>The memory does not move, so there is nothing to hold.</summary>
    public override MemoryHandle Pin(int elementIndex = 0) => new(_block.Start + elementIndex);

    public override void Unpin()
    {
    }

    internal void Free() => _block.Free();

    protected override void Dispose(bool disposing) => _block.Free();

    /// <summary>
    /// Owns the memory, and gives it back at the latest when a session that has ended is collected with what it had not sent.
    /// </summary>
    private sealed class Block(int bytes)
    {
        ~Block() => NativeMemory.Free(Start);

        internal byte* Start { get; private set; } = (byte*)NativeMemory.Alloc((nuint)bytes);

        internal void Free()
        {
            NativeMemory.Free(Start);
            Start = null;
            GC.SuppressFinalize(this);
        }
    }
}
