using System.Buffers.Binary;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Checkpoints;

/// <summary>
/// Names the sections of a checkpoint file, in their order (log-format L6). Each chunk of the file belongs to one of them.
/// </summary>
public enum CheckpointSection : byte
{
    Header = 1,
    CoordinatorPart = 2,
    Outbox = 3,
    Image = 4,
    Trailer = 5,
}

/// <summary>Encodes the 12 bytes in front of every chunk of a checkpoint file (log-format L6).</summary>
internal static class CheckpointChunk
{
    public const int HeaderBytes = 12;
    public const int ContentBytesMax = 1 << 20;
    public const int TrailerBytes = 8 + 8 + 8 + 4;

    private const int CrcAt = 8;

    /// <summary>Writes the header of a chunk with this content. Returns its CRC, which seeds that of the next chunk.</summary>
    public static uint WriteHeader(Span<byte> header, CheckpointSection section, ReadOnlySpan<byte> content, uint seed)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(header, (uint)content.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(header[4..], (byte)section);
        uint crc = Crc32C.Append(Crc32C.Append(seed, header[..CrcAt]), content);
        BinaryPrimitives.WriteUInt32LittleEndian(header[CrcAt..], crc);
        return crc;
    }
}

/// <summary>
/// Computes the hashes of a checkpoint's contents (log-format L6.5), looking at each byte once: the hash of sections 2 to 4 together
/// follows from those of each.
/// </summary>
internal struct SectionHashes
{
    private CheckpointSection _section;
    private ulong _before; // hash of the sections before _section
    private ulong _hash;   // hash of _section so far
    private ulong _length;

    /// <summary>The CRC-64/NVME of everything so far.</summary>
    public readonly ulong Digest => ChannelHash.Combine(_before, _hash, _length);

    /// <summary>The CRC-64/NVME of the image so far.</summary>
    public readonly ulong Image => _section == CheckpointSection.Image ? _hash : 0;

    /// <summary>Adds content in file order; header and trailer are in no hash.</summary>
    public void Add(CheckpointSection section, ReadOnlySpan<byte> content)
    {
        if (section is not (CheckpointSection.CoordinatorPart or CheckpointSection.Outbox or CheckpointSection.Image)) return;
        if (section != _section)
        {
            _before = Digest;
            _hash = _length = 0;
            _section = section;
        }
        _hash = ChannelHash.Append(_hash, content);
        _length += (ulong)content.Length;
    }
}
