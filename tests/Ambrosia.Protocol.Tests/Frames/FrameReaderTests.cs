using System.Buffers;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Tests;

/// <summary>Frames out of a stream that arrives in any pieces.</summary>
public sealed class FrameReaderTests
{
    private const uint Seed = 0xCAFEF00D;

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(16)]
    [InlineData(1000)]
    public void FrameReader_StreamInPieces_YieldsEveryFrameInOrder(int pieceBytes)
    {
        var stream = new ArrayBufferWriter<byte>();
        var sent = new List<(FrameType, string)>();
        for (int i = 0; i < 50; i++)
        {
            byte[] payload = [.. Enumerable.Range(0, i * 3).Select(static b => (byte)b)];
            FrameWriter.Write(stream, FrameType.Run, payload, Seed, checkPayload: true);
            FrameWriter.Write(stream, new Ack((ulong)i, new Epoch(1), 0), Seed, checkPayload: true);
            sent.Add((FrameType.Run, Convert.ToHexString(payload)));
            sent.Add((FrameType.Ack, $"{Convert.ToHexString([(byte)i])}00000000000000" + "0100000000000000" + "0000000000000000"));
        }

        var got = new List<(FrameType, string)>();
        var received = new List<byte>();
        foreach (byte[] piece in stream.WrittenSpan.ToArray().Chunk(pieceBytes))
        {
            received.AddRange(piece);
            while (TryTake(received, out FrameType type, out string payload)) got.Add((type, payload));
        }
        Assert.Equal(sent, got);
        Assert.Empty(received);
    }

    [Fact]
    public void FrameReader_HeaderOfALongFrame_IsToldBeforeThePayloadIsThere()
    {
        var stream = new ArrayBufferWriter<byte>();
        FrameWriter.Write(stream, FrameType.Run, new byte[1000], Seed, checkPayload: true);
        DecodeStatus status = FrameReader.TryRead(stream.WrittenSpan[..16], Seed, 4096, checkPayload: true, out FrameHeader header, out _,
            out int consumed);
        Assert.Equal((DecodeStatus.NeedMore, 1000u, 0), (status, header.Length, consumed));
    }

    [Fact]
    public void FrameTypes_EverySender_MayOnlySendItsOwn()
    {
        FrameTypes.Check(FrameType.Processed, FrameSender.App);
        FrameTypes.Check(FrameType.Goodbye, FrameSender.Acceptor);
        Assert.Equal("P2.4",
            Assert.Throws<ProtocolViolation>(() => FrameTypes.Check(FrameType.Processed, FrameSender.Coordinator)).Section);
        Assert.Equal("P2.4", Assert.Throws<ProtocolViolation>(() => FrameTypes.Check(FrameType.Ready, FrameSender.Acceptor)).Section);
        Assert.Equal("P2.4", Assert.Throws<ProtocolViolation>(() => FrameTypes.Check((FrameType)0x77, FrameSender.App)).Section);
    }

    private static bool TryTake(List<byte> received, out FrameType type, out string payloadHex)
    {
        DecodeStatus status = FrameReader.TryRead([.. received], Seed, 4096, checkPayload: true, out FrameHeader header,
            out ReadOnlySpan<byte> payload, out int consumed);
        type = header.Type;
        payloadHex = Convert.ToHexString(payload);
        received.RemoveRange(0, consumed);
        return status == DecodeStatus.Ok;
    }
}
