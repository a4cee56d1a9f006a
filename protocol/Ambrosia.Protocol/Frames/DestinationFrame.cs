using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>The app declares the index by which later runs name a destination (protocol P5.5).</summary>
public sealed record DestinationFrame(uint Index, InstanceId Destination) : IFramePayload<DestinationFrame>
{
    /// <summary>Every index is below this limit.</summary>
    public const uint IndexLimit = 1 << 20;

    public static FrameType Type => FrameType.Destination;

    public int BytesMax => 4 + 2 + 1 + Names.CharsMax;

    public void Write(ref PayloadWriter to)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(Index, IndexLimit);
        to.U32(Index);
        to.U16(Destination.Shard);
        to.Name(Destination.Name);
    }

    public static DestinationFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.5");
        uint index = from.U32();
        if (index >= IndexLimit) throw from.Violation("P5.5", $"destination index {index}");
        ushort shard = from.U16();
        var frame = new DestinationFrame(index, new InstanceId(from.Name(), shard));
        from.End();
        return frame;
    }
}
