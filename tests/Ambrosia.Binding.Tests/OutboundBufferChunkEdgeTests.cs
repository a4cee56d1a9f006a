using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests;

public sealed class OutboundBufferChunkEdgeTests
{
    /// <summary>A message that meets the end of a chunk in its method id was written behind it.</summary>
    [Fact]
    public void Begin_MessagesOfEverySizeOverChunkEdges_ComesOutWhole()
    {
        var buffer = new OutboundBuffer();
        var destination = new Destination(1, new InstanceId("x"));
        ulong sent = 0, taken = 0;
        for (int i = 0; i < 100_000; i++)
        {
            buffer.Begin(destination, MessageKind.Fork, 20);
            buffer.WriteVarint(0x8550B4C9);
            var writer = new CborWriter(buffer);
            writer.WriteUInt64(sent++);
            writer.WriteBytes(new byte[i % 23]);
            writer.Flush();
            buffer.Commit();
            if (i % 97 != 0) continue;
            buffer.Flush();
            while (buffer.TryTake(out ReadOnlyMemory<byte> bytes))
            {
                CheckRuns(bytes.Span, ref taken);
                buffer.Taken(bytes.Length);
            }
        }
    }

    private static void CheckRuns(ReadOnlySpan<byte> frames, ref ulong next)
    {
        while (FrameReader.TryRead(frames, 0, 1 << 20, checkPayload: false, out _, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            var messages = new MessageReader(RunView.ReadWhole(payload, 1 << 20));
            while (messages.Next())
            {
                Assert.Equal(0x8550B4C9u, messages.Method);
                var reader = new CborReader(messages.Arguments);
                Assert.Equal(next++, reader.ReadUInt64());
            }
            frames = frames[size..];
        }
        Assert.True(frames.IsEmpty);
    }
}
