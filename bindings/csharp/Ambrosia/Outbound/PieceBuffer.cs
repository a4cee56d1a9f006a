using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Outbound;

/// <summary>
/// Collects bytes of any number in pieces, each with room for the header of a frame in front, so that they are sent as they are: nothing is
/// copied, and no array holds all of them. One thread. Invariant: every piece but the last is full, or too short for what was asked next.
/// </summary>
/// <param name="bytesMax">
/// The bytes at which no more are kept, about: what comes behind is written to one stretch of memory over and over.
/// </param>
internal sealed class PieceBuffer(long bytesMax = long.MaxValue) : IBufferWriter<byte>
{
    /// <summary>
    /// The size of a piece with its header, well below the limit of a frame, so that several share a receive at the other end.
    /// </summary>
    private const int PieceBytes = SizeLimits.BatchBytesMax;

    private readonly List<NativePiece> _pieces = [];
    private NativePiece? _last;

    /// <summary>The number of bytes that fit behind the last ones.</summary>
    private int _room;

    /// <summary>The memory for bytes that are not kept; null while all are.</summary>
    private byte[]? _lost;

    /// <summary>The number of bytes that were written.</summary>
    internal long Length { get; private set; }

    /// <summary>True if some of the bytes were not kept.</summary>
    internal bool HasLost => _lost is not null;

    /// <summary>Takes every piece as soon as it is full. Null: the pieces wait for <see cref="TakeAll"/>.</summary>
    internal Action<NativePiece>? Full { get; init; }

    /// <summary>Returns the pieces in their order; they are the caller's from here on, and the buffer is empty.</summary>
    internal List<NativePiece> TakeAll()
    {
        List<NativePiece> all = [.. _pieces.Where(static piece => piece.Content.Length > 0)];
        _pieces.Clear();
        (_last, _room, Length) = (null, 0, 0);
        return all;
    }

    /// <summary>Keeps the first bytes only, all of which must be there still.</summary>
    internal void CutTo(long length)
    {
        int kept = 0;
        for (; kept < _pieces.Count && length > 0; kept++)
        {
            NativePiece piece = _pieces[kept];
            piece.End = FrameHeader.Bytes + (int)Math.Min(piece.Content.Length, length);
            length -= piece.Content.Length;
        }
        for (int i = kept; i < _pieces.Count; i++) _pieces[i].Free();
        _pieces.RemoveRange(kept, _pieces.Count - kept);
    }

    public void Advance(int count)
    {
        if (count == 0) return;
        Length += count;
        if (HasLost) return;
        _last!.End += count;
        _room -= count;
    }

    public Span<byte> GetSpan(int sizeHint = 0) => Loses(sizeHint) ? _lost : PieceFor(sizeHint).GetSpan()[_last!.End..];

    public Memory<byte> GetMemory(int sizeHint = 0) => Loses(sizeHint) ? _lost : PieceFor(sizeHint).Memory[_last!.End..];

    private bool Loses(int sizeHint)
    {
        if (Length < bytesMax) return false;
        if (_lost is null || _lost.Length < sizeHint) _lost = new byte[Math.Max(PieceBytes, sizeHint)];
        return true;
    }

    private NativePiece PieceFor(int sizeHint)
    {
        if (_last is not null && _room >= Math.Max(sizeHint, 1)) return _last;
        if (Full is not null) GiveLast();
        int bytes = Math.Max(PieceBytes, checked(sizeHint + FrameHeader.Bytes));
        _room = bytes - FrameHeader.Bytes;
        _pieces.Add(_last = new NativePiece(bytes));
        return _last;
    }

    private void GiveLast()
    {
        _pieces.Clear();
        if (_last is { Content.Length: > 0 } full) Full!(full);
        else _last?.Free();
        _last = null;
    }
}
