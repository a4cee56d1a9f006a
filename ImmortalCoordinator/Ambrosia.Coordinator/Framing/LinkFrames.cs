using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using CRA.Links;

namespace Ambrosia.Coordinator.Framing;

/// <summary>It takes what comes over a link, frame by frame, on the connection's in thread.</summary>
internal interface ILinkFrames
{
    /// <summary>The connection was refused or has ended: nothing more is taken.</summary>
    bool IsOver { get; }

    /// <summary>The limit of a frame's payload at the present stage (P2.3).</summary>
    uint PayloadBytesMax { get; }

    /// <summary>Takes a whole frame. <see cref="FeedResult.NoRoom"/>: not yet, it comes again.</summary>
    /// <param name="isAgain">There was no room for the same frame before; its payload was read then and need not be checked again.</param>
    /// <exception cref="ProtocolViolation">It is malformed, or not its turn.</exception>
    FeedResult Take(FrameType type, ReadOnlySpan<byte> payload, bool isAgain);

    /// <summary>The other side broke the protocol; the connection closes.</summary>
    void Broken(ProtocolViolation violation);
}

/// <summary>
/// Cuts what comes over a link into whole frames: each is checked against the seed, the limit of the moment and the other side's part, and
/// handed on. The same for peers and for callers outside. The connection's in thread.
/// </summary>
/// <param name="seed">The connection's seed (P2.2).</param>
/// <param name="other">Who speaks.</param>
/// <param name="wakeCommitter">What was taken waits for a commit; true: nothing more is coming at the moment.</param>
internal sealed class LinkFrames(uint seed, FrameSender other, ILinkFrames taker, Action<bool> wakeCommitter)
{
    /// <summary>The longest payload of a frame before the hello is accepted (P2.3).</summary>
    public const uint HelloBytesMax = 4096;

    private int _bytesWanted;

    /// <summary>
    /// There was no room for the first frame of the next feed. It has the same bytes (<see cref="ILinkTraffic.Feed"/>) and was checked: a
    /// log that is full for long costs no processor for what was read.
    /// </summary>
    private bool _isAgain;

    /// <summary>
    /// The length of the frame whose beginning has come; 0: it is not known (<see cref="ILinkTraffic.FrameBytesWanted"/>).
    /// </summary>
    public int BytesWanted => _bytesWanted;

    /// <summary>Takes the whole frames in these bytes, as <see cref="ILinkTraffic.Feed"/> demands.</summary>
    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        consumed = 0;
        var answer = FeedResult.Close;
        try
        {
            return answer = FeedFrames(bytes, ref consumed);
        }
        catch (ProtocolViolation violation)
        {
            taker.Broken(violation);
            throw;
        }
        finally
        {
            wakeCommitter(drained || answer != FeedResult.Continue); // what came before the end was taken all the same
        }
    }

    private FeedResult FeedFrames(ReadOnlySpan<byte> bytes, ref int consumed)
    {
        while (!taker.IsOver)
        {
            DecodeStatus status = _isAgain
                ? ReadAgain(bytes, out FrameHeader header, out ReadOnlySpan<byte> payload, out int size)
                : FrameReader.TryRead(
                    bytes[consumed..], seed, taker.PayloadBytesMax, checkPayload: true, out header, out payload, out size);
            if (status != DecodeStatus.Ok)
            {
                _bytesWanted = bytes.Length - consumed >= FrameHeader.Bytes ? FrameHeader.Bytes + (int)header.Length : 0;
                return FeedResult.Continue;
            }
            FrameTypes.Check(header.Type, other);
            FeedResult answer = taker.Take(header.Type, payload, _isAgain);
            _isAgain = answer == FeedResult.NoRoom;
            if (!_isAgain) consumed += size;
            if (answer != FeedResult.Continue) return answer;
        }
        return FeedResult.Close;
    }

    /// <summary>Reads the frame that was whole and right in the feed before, without its checksum.</summary>
    private DecodeStatus ReadAgain(ReadOnlySpan<byte> bytes, out FrameHeader header, out ReadOnlySpan<byte> payload, out int size)
    {
        header = FrameHeader.Read(bytes, seed, taker.PayloadBytesMax);
        size = FrameHeader.Bytes + (int)header.Length;
        payload = bytes[FrameHeader.Bytes..size];
        return DecodeStatus.Ok;
    }

    /// <summary>A heartbeat (P5.12) of a connection with this seed.</summary>
    public static ReadOnlyMemory<byte> Heartbeat(uint seed)
    {
        var frame = new ArrayBufferWriter<byte>(FrameHeader.Bytes);
        FrameWriter.Write(frame, FrameType.Heartbeat, [], seed, checkPayload: true);
        return frame.WrittenMemory;
    }
}

/// <summary>
/// Frames of one connection on their way out, apart from the runs of outboxes: those that wait, and those that were taken and are being
/// sent. A large one's memory is given up with it. Whoever owns it guards it with its own lock and takes again only
/// when what was taken is sent.
/// </summary>
/// <param name="seed">The connection's seed (P2.2).</param>
/// <param name="checkPayload">True on a link (P2.5).</param>
internal sealed class FrameQueue(uint seed, bool checkPayload)
{
    private const int KeptBytesMax = 256 << 10;

    private ArrayBufferWriter<byte> _waiting = new(), _sending = new();

    public bool HasAny => _waiting.WrittenCount > 0;

    /// <summary>The number of bytes that wait.</summary>
    public int Waiting => _waiting.WrittenCount;

    public void Write<T>(T frame) where T : IFramePayload<T> => FrameWriter.Write(_waiting, frame, seed, checkPayload);

    public void Write(FrameType type, ReadOnlySpan<byte> payload) => FrameWriter.Write(_waiting, type, payload, seed, checkPayload);

    public void WriteEmpty(FrameType type) => Write(type, []);

    /// <summary>All that wait; the bytes stay until the next call.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!HasAny) return false;
        (_waiting, _sending) = (_sending, _waiting);
        if (_waiting.Capacity > KeptBytesMax) _waiting = new ArrayBufferWriter<byte>();
        else _waiting.ResetWrittenCount();
        bytes = _sending.WrittenMemory;
        return true;
    }
}
