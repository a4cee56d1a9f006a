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

    /// <summary>Writes the header of a chunk with this content. Returns its CRC, the seed of the next.</summary>
    public static uint WriteHeader(Span<byte> header, CheckpointSection section, ReadOnlySpan<byte> content, uint seed)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(header, (uint)content.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(header[4..], (byte)section);
        uint crc = Crc32C.Append(Crc32C.Append(seed, header[..CrcAt]), content);
        BinaryPrimitives.WriteUInt32LittleEndian(header[CrcAt..], crc);
        return crc;
    }
}
