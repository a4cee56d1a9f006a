using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Outbound;

/// <summary>
/// Collects bytes of any number in pieces, each with room for the header of a frame in front, so that they are sent as they are: nothing is
/// copied, and no array holds all of them. One thread. Invariant: every piece but the last is full, or too short for what was asked next.
/// </summary>
internal sealed class PieceBuffer : IBufferWriter<byte>
{
    /// <summary>The size of a piece with its header: that of the output's own chunks, which use it again.</summary>
    private const int PieceBytes = SizeLimits.BatchBytesMax;

    private readonly List<OutboundPiece> _pieces = [];
    private byte[] _last = [];
    private int _at;
    private long _before;

    /// <summary>The number of bytes that were written.</summary>
    internal long Length => _before + Math.Max(0, _at - FrameHeader.Bytes);

    /// <summary>The pieces in their order; they are the caller's from here on, and the buffer is empty.</summary>
    internal List<OutboundPiece> TakeAll()
    {
        Close();
        List<OutboundPiece> all = [.. _pieces];
        _pieces.Clear();
        _before = 0;
        return all;
    }

    public void Advance(int count) => _at += count;

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        if (_last.Length - _at < Math.Max(sizeHint, 1)) Open(sizeHint);
        return _last.AsSpan(_at);
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        if (_last.Length - _at < Math.Max(sizeHint, 1)) Open(sizeHint);
        return _last.AsMemory(_at);
    }

    private void Open(int sizeHint)
    {
        Close();
        _last = GC.AllocateUninitializedArray<byte>(Math.Max(PieceBytes, checked(sizeHint + FrameHeader.Bytes)));
        _at = FrameHeader.Bytes;
    }

    private void Close()
    {
        if (_at > FrameHeader.Bytes)
        {
            _pieces.Add(new OutboundPiece(_last, _at));
            _before += _at - FrameHeader.Bytes;
        }
        _last = [];
        _at = 0;
    }
}

/// <summary>A stretch of bytes behind room for the header of a frame.</summary>
/// <param name="End">The offset behind the last byte.</param>
internal readonly record struct OutboundPiece(byte[] Bytes, int End)
{
    internal ReadOnlySpan<byte> Content => Bytes.AsSpan(FrameHeader.Bytes, End - FrameHeader.Bytes);

    /// <summary>Appends the content of pieces to a checksum.</summary>
    internal static ulong Hash(IEnumerable<OutboundPiece> pieces)
    {
        ulong hash = 0;
        foreach (OutboundPiece piece in pieces) hash = ChannelHash.Append(hash, piece.Content);
        return hash;
    }
}
