using System.Numerics;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>Tells the app where the rings of shared memory are through which everything else goes (protocol P5.19).</summary>
/// <param name="Capacity">Bytes that each of them holds.</param>
/// <param name="Path">Path of the memory, as a file of the coordinator's process.</param>
public readonly record struct RingsFrame(uint Capacity, string Path) : IFramePayload<RingsFrame>
{
    /// <summary>A ring has this many bytes at least and at most; the number is a power of two.</summary>
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
