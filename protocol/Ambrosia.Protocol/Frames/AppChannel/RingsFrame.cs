using System.Numerics;

namespace Ambrosia.Protocol;

/// <summary>Where the rings are through which everything else goes (protocol P5.19).</summary>
/// <param name="Capacity">Bytes that each of them holds.</param>
/// <param name="Path">A file of the coordinator's process.</param>
public readonly record struct RingsFrame(uint Capacity, string Path) : IFramePayload<RingsFrame>
{
    /// <summary>A ring's bytes; a power of two.</summary>
    public const uint CapacityMin = 64 * 1024, CapacityMax = 64 * 1024 * 1024;

    private const int PathBytesMax = 1_024;

    public static FrameType Type => FrameType.Rings;

    public int BytesMax => 4 + 2 + PathBytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U32(Capacity);
        to.String(Path, PathBytesMax);
    }

    public static RingsFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.19");
        var rings = new RingsFrame(from.U32(), from.String(PathBytesMax));
        from.End();
        if (rings.Capacity is < CapacityMin or > CapacityMax || !BitOperations.IsPow2(rings.Capacity))
            throw from.Violation("P5.19", $"rings of {rings.Capacity} bytes");
        return rings;
    }
}
