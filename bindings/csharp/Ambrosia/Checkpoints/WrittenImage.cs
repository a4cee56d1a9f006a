using System.Buffers;
using Ambrosia.Outbound;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Checkpoints;

/// <summary>
/// An image that can be written to its end: its front and its first objects stand in memory, in pieces. The rest of a large one is written
/// while it is taken, so the state must not change before. It can be taken once. Thread: the scheduler's.
/// </summary>
internal sealed class WrittenImage : IDisposable
{
    private readonly Queue<NativePiece> _pieces;
    private readonly GraphWriter _graph;
    private long _length;
    private ulong _hash;

    /// <param name="graph">The objects, all of which were found.</param>
    internal WrittenImage(PieceBuffer front, GraphWriter graph)
    {
        _graph = graph;
        _pieces = new Queue<NativePiece>([.. front.TakeAll(), .. graph.TakeBodies()]);
    }

    /// <summary>Gives the image to the output, between its first and its last frame (protocol P5.7), and returns the last one.</summary>
    /// <exception cref="Failures.ChannelEnded">The output takes no more.</exception>
    /// <exception cref="InvalidOperationException">The state was changed by another thread than the handlers'.</exception>
    internal ImageEnd Send(OutboundBuffer to)
    {
        try
        {
            return Take(piece => SendPiece(to, piece), piece =>
            {
                SendPiece(to, piece);
                to.WaitForRoom();
            });
        }
        finally
        {
            to.EndPieces();
        }
    }

    /// <summary>Returns the length and the hash of the image, and nothing else of it.</summary>
    internal ImageEnd Measure() => Take(static piece => piece.Free(), static piece => piece.Free());

    /// <summary>Returns all bytes: for images that are known to be small.</summary>
    internal byte[] ToArray()
    {
        var all = new ArrayBufferWriter<byte>();
        Take(Copy, Copy);
        return all.WrittenSpan.ToArray();

        void Copy(NativePiece piece)
        {
            all.Write(piece.Content);
            piece.Free();
        }
    }

    /// <summary>Appends all bytes to a buffer, and returns the last frame.</summary>
    internal ImageEnd CopyTo(LargeBuffer to)
    {
        return Take(Copy, Copy);

        void Copy(NativePiece piece)
        {
            to.Append(piece.Content);
            piece.Free();
        }
    }

    /// <summary>Gives the memory back, also where the image was not taken.</summary>
    public void Dispose()
    {
        foreach (NativePiece piece in _pieces) piece.Free();
        _pieces.Clear();
        _graph.Free();
    }

    /// <param name="takeKept">Takes what is in memory anyway.</param>
    /// <param name="takeRest">Takes what is written while it is taken.</param>
    private ImageEnd Take(Action<NativePiece> takeKept, Action<NativePiece> takeRest)
    {
        while (_pieces.TryDequeue(out NativePiece? piece)) Give(piece, takeKept);
        var rest = new PieceBuffer { Full = piece => Give(piece, takeRest) };
        _graph.WriteRest(rest);
        foreach (NativePiece last in rest.TakeAll()) Give(last, takeRest);
        return new ImageEnd((ulong)_length, _hash);
    }

    private void Give(NativePiece piece, Action<NativePiece> take)
    {
        _length += piece.Content.Length;
        _hash = ChannelHash.Append(_hash, piece.Content);
        take(piece);
    }

    private static void SendPiece(OutboundBuffer to, NativePiece piece)
    {
        if (piece.Content.Length <= ImageChunk.BytesMax)
        {
            to.WritePiece(FrameType.ImageChunk, piece);
            return;
        }
        to.EndPieces();
        SendInParts(to, piece.Content);
        piece.Free();
    }

    /// <summary>Sends what one long item of the app's own serializer has made larger than a frame.</summary>
    private static void SendInParts(OutboundBuffer to, ReadOnlySpan<byte> content)
    {
        for (; content.Length > ImageChunk.BytesMax; content = content[ImageChunk.BytesMax..])
            to.Write(FrameType.ImageChunk, content[..ImageChunk.BytesMax]);
        to.Write(FrameType.ImageChunk, content);
    }
}
