using System.Buffers;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>
/// What comes over a link, cut into whole frames: each is checked against the seed, the limit of the moment and the other side's part, and
/// handed on. The same for peers and for callers outside. The connection's in thread.
/// </summary>
/// <param name="seed">The connection's seed (P2.2).</param>
/// <param name="other">Who speaks.</param>
/// <param name="wakeCommitter">What was taken waits for a commit; true: nothing more is coming at the moment.</param>
internal sealed class LinkFrames(uint seed, FrameSender other, ILinkFrames taker, Action<bool> wakeCommitter)
{
    private int bytesWanted;

    /// <summary>See <see cref="ILinkTraffic.FrameBytesWanted"/>.</summary>
    public int BytesWanted => bytesWanted;

    /// <summary>See <see cref="ILinkTraffic.Feed"/>.</summary>
    public FeedAnswer Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        consumed = 0;
        var answer = FeedAnswer.Close;
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
            wakeCommitter(drained || answer != FeedAnswer.Continue); // what came before the end was taken all the same
        }
    }

    private FeedAnswer FeedFrames(ReadOnlySpan<byte> bytes, ref int consumed)
    {
        while (!taker.IsOver)
        {
            DecodeStatus status = FrameReader.TryRead(
                bytes[consumed..], seed, taker.PayloadBytesMax, checkPayload: true, out FrameHeader header,
                out ReadOnlySpan<byte> payload, out int size);
            if (status != DecodeStatus.Ok)
            {
                bytesWanted = bytes.Length - consumed >= FrameHeader.Bytes ? FrameHeader.Bytes + (int)header.Length : 0;
                return FeedAnswer.Continue;
            }
            FrameTypes.Check(header.Type, other);
            FeedAnswer answer = taker.Take(header.Type, payload);
            if (answer != FeedAnswer.NoRoom) consumed += size;
            if (answer != FeedAnswer.Continue) return answer;
        }
        return FeedAnswer.Close;
    }

    /// <summary>A heartbeat (P5.12) of a connection with this seed.</summary>
    public static ReadOnlyMemory<byte> Heartbeat(uint seed)
    {
        var frame = new ArrayBufferWriter<byte>(FrameHeader.Bytes);
        Frames.Write(frame, FrameType.Heartbeat, [], seed, checkPayload: true);
        return frame.WrittenMemory;
    }
}
