using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Outbound;

/// <summary>
/// Collects bytes of any number in pieces, each with room for the header of a frame in front, so that they are sent as they are: nothing is
/// copied, and no array holds all of them. One thread. Invariant: every piece but the last is full, or too short for what was asked next.
/// </summary>
internal sealed class PieceBuffer : IBufferWriter<byte>
{
    /// <summary>
    /// The size of a piece with its header, well below the limit of a frame, so that several share a receive at the other end.
    /// </summary>
    private const int PieceBytes = SizeLimits.BatchBytesMax;

    private readonly List<NativePiece> _pieces = [];
    private NativePiece? _last;

    /// <summary>The number of bytes that fit behind the last ones.</summary>
    private int _room;

    /// <summary>The number of bytes that were written.</summary>
    internal long Length { get; private set; }

    /// <summary>Returns the pieces in their order; they are the caller's from here on, and the buffer is empty.</summary>
    internal List<NativePiece> TakeAll()
    {
        List<NativePiece> all = [.. _pieces.Where(static piece => piece.Content.Length > 0)];
        _pieces.Clear();
        (_last, _room, Length) = (null, 0, 0);
        return all;
    }

    public void Advance(int count)
    {
        if (count == 0) return;
        _last!.End += count;
        _room -= count;
        Length += count;
    }

    public Span<byte> GetSpan(int sizeHint = 0) => PieceFor(sizeHint).GetSpan()[_last!.End..];

    public Memory<byte> GetMemory(int sizeHint = 0) => PieceFor(sizeHint).Memory[_last!.End..];

    private NativePiece PieceFor(int sizeHint)
    {
        if (_last is not null && _room >= Math.Max(sizeHint, 1)) return _last;
        int bytes = Math.Max(PieceBytes, checked(sizeHint + FrameHeader.Bytes));
        _room = bytes - FrameHeader.Bytes;
        _pieces.Add(_last = new NativePiece(bytes));
        return _last;
    }
}
