using Ambrosia.Outbound;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Checkpoints;

/// <summary>
/// An image that was written, in pieces: the only copy of it in memory. Once it was sent it is empty. Thread: the scheduler's.
/// </summary>
internal sealed class WrittenImage : IDisposable
{
    private readonly List<NativePiece> _pieces;

    internal WrittenImage(PieceBuffer front, PieceBuffer objects)
    {
        Length = front.Length + objects.Length;
        _pieces = [.. front.TakeAll(), .. objects.TakeAll()];
        Hash = NativePiece.Hash(_pieces);
    }

    /// <summary>The number of its bytes.</summary>
    internal long Length { get; }

    /// <summary>The CRC-64/NVME of its bytes.</summary>
    internal ulong Hash { get; }

    /// <summary>Gives the image to the output, between its first and its last frame (protocol P5.7).</summary>
    internal void Send(OutboundBuffer to)
    {
        foreach (NativePiece piece in _pieces)
        {
            if (piece.Content.Length <= ImageChunk.BytesMax)
            {
                to.WritePiece(FrameType.ImageChunk, piece);
                continue;
            }
            to.EndPieces();
            SendInParts(to, piece.Content);
            piece.Free();
        }
        to.EndPieces();
        _pieces.Clear();
    }

    /// <summary>Gives the memory back where the image is not sent.</summary>
    public void Dispose()
    {
        foreach (NativePiece piece in _pieces) piece.Free();
        _pieces.Clear();
    }

    /// <summary>Returns a copy of all bytes: for images that are known to be small.</summary>
    internal byte[] ToArray()
    {
        byte[] all = new byte[Length];
        int at = 0;
        foreach (NativePiece piece in _pieces)
        {
            piece.Content.CopyTo(all.AsSpan(at));
            at += piece.Content.Length;
        }
        return all;
    }

    /// <summary>Sends what one long text has made larger than a frame.</summary>
    private static void SendInParts(OutboundBuffer to, ReadOnlySpan<byte> content)
    {
        for (; content.Length > ImageChunk.BytesMax; content = content[ImageChunk.BytesMax..])
            to.Write(FrameType.ImageChunk, content[..ImageChunk.BytesMax]);
        to.Write(FrameType.ImageChunk, content);
    }
}
