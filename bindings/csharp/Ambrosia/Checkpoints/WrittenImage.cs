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
    private readonly long _frontBytes;
    private long _length;
    private ulong _hash;

    /// <param name="graph">The objects, all of which were found.</param>
    internal WrittenImage(PieceBuffer front, GraphWriter graph)
    {
        _graph = graph;
        _frontBytes = front.Length;
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
    /// <param name="bytesMax">Of an image of more bytes the buffer gets the first ones only.</param>
    internal ImageEnd CopyTo(LargeBuffer to, long bytesMax = long.MaxValue)
    {
        return Take(Copy, Copy);

        void Copy(NativePiece piece)
        {
            if (_length <= bytesMax) to.Append(piece.Content);
            piece.Free();
        }
    }

    /// <summary>
    /// Says where in the state another image differs first; null: not in an object, or there are more of them in one of both. The graph
    /// tells places.
    /// </summary>
    internal string? PlaceOfDifference(LargeBuffer other)
    {
        if (StateImage.FrontBytes(other) != _frontBytes) return null;
        var compared = new ComparedImage(other, _frontBytes, () => _graph.Place);
        _graph.WriteAgain(compared);
        return compared.Differs;
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

/// <summary>Compares objects that are written with those of another image, and keeps the place of the first difference.</summary>
/// <param name="at">The objects of the other image begin there.</param>
/// <param name="place">Says where in the state the last bytes belong.</param>
internal sealed class ComparedImage(LargeBuffer other, long at, Func<string> place) : IBufferWriter<byte>
{
    private byte[] _written = new byte[4096];
    private int _end;

    /// <summary>The place; null: there is no difference so far.</summary>
    internal string? Differs { get; private set; }

    public void Advance(int count)
    {
        ReadOnlySpan<byte> left = _written.AsSpan(_end, count);
        _end += count;
        while (Differs is null && left.Length > 0)
        {
            ReadOnlySpan<byte> there = at < other.Length ? other.From(at) : [];
            int same = left.CommonPrefixLength(there);
            at += same;
            left = left[same..];
            if (left.Length > 0 && same < Math.Max(1, there.Length)) Differs = place();
        }
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        if (_written.Length < sizeHint) _written = new byte[sizeHint];
        _end = 0;
        return _written;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        GetSpan(sizeHint);
        return _written;
    }
}
