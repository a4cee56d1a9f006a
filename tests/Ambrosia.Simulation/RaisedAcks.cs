using System.Buffers;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Simulation;

/// <summary>
/// Negative control: acknowledgements that say a little more than is true, by the time they arrive; never more than was sent.
/// </summary>
internal static class RaisedAcks
{
    private const ulong Surplus = 5;

    public static byte[] Of(ReadOnlySpan<byte> bytes, uint seed, ulong sent)
    {
        var raised = new ArrayBufferWriter<byte>();
        while (FrameReader.TryRead(bytes, seed, int.MaxValue, checkPayload: true, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            if (header.Type != FrameType.Ack) FrameWriter.Write(raised, header.Type, payload, seed, checkPayload: true);
            else
            {
                Ack ack = Ack.Read(payload);
                FrameWriter.Write(raised, ack with { Durable = Math.Max(ack.Durable, Math.Min(ack.Durable + Surplus, sent)) }, seed,
                    checkPayload: true);
            }
            bytes = bytes[size..];
        }
        return raised.WrittenSpan.ToArray();
    }
}
