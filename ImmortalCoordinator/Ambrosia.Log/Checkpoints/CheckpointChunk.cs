using System.Buffers.Binary;
using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>The 12 bytes in front of every chunk of a checkpoint file (log-format L6).</summary>
internal static class CheckpointChunk
{
    public const int HeaderBytes = 12;
    public const int ContentBytesMax = 1 << 20;
    public const int TrailerBytes = 8 + 8 + 8 + 4;

    private const int CrcAt = 8;

    /// <summary>Completes a chunk whose content stands behind room for its header. Returns its CRC, the seed of the next.</summary>
    public static uint Complete(Span<byte> chunk, CheckpointSection section, uint seed)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(chunk, (uint)(chunk.Length - HeaderBytes));
        BinaryPrimitives.WriteUInt32LittleEndian(chunk[4..], (byte)section);
        uint crc = Crc32C.Append(Crc32C.Append(seed, chunk[..CrcAt]), chunk[HeaderBytes..]);
        BinaryPrimitives.WriteUInt32LittleEndian(chunk[CrcAt..], crc);
        return crc;
    }
}
