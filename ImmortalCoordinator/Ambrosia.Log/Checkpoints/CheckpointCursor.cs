using System.Buffers.Binary;
using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>Walks the chunks of a checkpoint file with every check that one chunk and its neighbours allow (log-format L6, L6.6).</summary>
/// <param name="pastCache">What was read is not left in the cache: a verification is of the device, and makes no room for itself there.</param>
internal sealed class CheckpointCursor(IFile file, string path, bool pastCache = false)
{
    private const long DropEveryBytes = 8L << 20;

    /// <summary>Room for the largest chunk, or for all of a file that is smaller.</summary>
    private readonly byte[] _chunk = new byte[CheckpointChunk.HeaderBytes + (int)Math.Min(CheckpointChunk.ContentBytesMax, file.Length)];
    private uint _crc;
    private CheckpointSection _last;
    private long _dropped;

    /// <summary>Bytes of the chunks read so far.</summary>
    public long Offset { get; private set; }

    /// <summary>Hash of the contents of sections 2 to 4 so far.</summary>
    public ulong Digest { get; private set; }

    /// <summary>Reads the next chunk; false behind the trailer. The content is valid until the next call.</summary>
    /// <exception cref="LogDamage">L6.6.</exception>
    public bool Next(out CheckpointSection section, out ReadOnlySpan<byte> content)
    {
        section = default;
        content = default;
        Span<byte> header = _chunk.AsSpan(0, CheckpointChunk.HeaderBytes);
        int count = file.Read(header, Offset);
        if (_last == CheckpointSection.Trailer)
            return count == 0 ? false : throw Damage("the end of the file behind the trailer", "more bytes");
        if (count < header.Length) throw Damage("a chunk", $"{count} bytes to the end of the file");
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(header), word = BinaryPrimitives.ReadUInt32LittleEndian(header[4..]);
        if (length > CheckpointChunk.ContentBytesMax) throw Damage($"a chunk of at most {CheckpointChunk.ContentBytesMax} bytes", $"length {length}");
        Span<byte> bytes = _chunk.AsSpan(CheckpointChunk.HeaderBytes, (int)Math.Min(length, _chunk.Length - CheckpointChunk.HeaderBytes));
        count = file.Read(bytes, Offset + header.Length);
        if (count < length) throw Damage($"a chunk of {length} bytes", $"{count} bytes to the end of the file");
        uint crc = Crc32C.Append(Crc32C.Append(_crc, header[..8]), bytes), stated = BinaryPrimitives.ReadUInt32LittleEndian(header[8..]);
        if (crc != stated) throw Damage($"chunk CRC 0x{crc:X8}", $"0x{stated:X8}");
        section = Follow(word);
        Offset += header.Length + bytes.Length;
        _crc = crc;
        if (section is CheckpointSection.Coordinator or CheckpointSection.Outbox or CheckpointSection.Image) Digest = ChannelHash.Append(Digest, bytes);
        content = bytes;
        if (pastCache && (Offset - _dropped >= DropEveryBytes || section == CheckpointSection.Trailer)) Drop();
        return true;
    }

    private void Drop()
    {
        file.DropCache();
        _dropped = Offset;
    }

    public LogDamage Damage(string expected, string found) => new(path, Offset, null, expected, found);

    private CheckpointSection Follow(uint word)
    {
        var section = (CheckpointSection)word;
        bool isInOrder = _last == 0
            ? word == (uint)CheckpointSection.Header
            : word <= (uint)CheckpointSection.Trailer && section >= _last && section != CheckpointSection.Header;
        if (!isInOrder) throw Damage($"a section that may follow {_last}", $"0x{word:X}");
        return _last = section;
    }
}
