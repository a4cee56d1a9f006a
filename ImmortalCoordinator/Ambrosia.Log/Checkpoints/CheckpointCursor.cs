using System.Buffers.Binary;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Checkpoints;

/// <summary>
/// Walks the chunks of a checkpoint file with every check that one chunk and its neighbours allow (log-format L6, L6.6). One thread.
/// </summary>
/// <param name="pastCache">True leaves nothing of what was read in the cache: a verification is of the device, and makes no room for itself
/// there.</param>
/// <param name="memory">Nobody else uses it as long as this cursor reads; null makes the cursor take memory of its own.</param>
internal sealed class CheckpointCursor(IFile file, string path, bool pastCache = false, CheckpointMemory? memory = null)
{
    private const long DropEveryBytes = 8L << 20;

    private readonly CheckpointMemory _memory = memory ??= new CheckpointMemory();
    private readonly DirectReader? _direct = pastCache ? DirectReader.TryMake(file, memory.Block) : null;
    private SectionHashes _hashes;
    private uint _crc;
    private CheckpointSection _last;
    private long _dropped;

    /// <summary>The file offset behind the chunks read so far.</summary>
    public long Offset { get; private set; }

    /// <summary>Hashes of the chunks read so far; they stay as they are once <see cref="IsVerified"/>.</summary>
    public SectionHashes Hashes => _hashes;

    /// <summary>
    /// True when the whole file was seen to have the digest that it states: from then on the CRC of each chunk is enough.
    /// </summary>
    public bool IsVerified { get; private set; }

    private IReadable Source => _direct ?? (IReadable)file;

    /// <summary>Goes back to the first chunk, after all of the file was verified.</summary>
    public void Rewind()
    {
        IsVerified = true;
        Offset = _dropped = 0;
        _crc = 0;
        _last = 0;
    }

    /// <summary>Reads the next chunk; returns false behind the trailer. The content is valid until the next call.</summary>
    /// <exception cref="LogDamage">The chunk breaks a rule (L6.6).</exception>
    public bool Next(out CheckpointSection section, out ReadOnlySpan<byte> content)
    {
        section = default;
        content = default;
        Span<byte> header = stackalloc byte[CheckpointChunk.HeaderBytes];
        int count = Read(header, Offset);
        if (_last == CheckpointSection.Trailer)
            return count == 0 ? false : throw Damage("the end of the file behind the trailer", "more bytes");
        if (count < header.Length) throw Damage("a chunk", $"{count} bytes to the end of the file");
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(header), word = BinaryPrimitives.ReadUInt32LittleEndian(header[4..]);
        if (length > CheckpointChunk.ContentBytesMax)
            throw Damage($"a chunk of at most {CheckpointChunk.ContentBytesMax} bytes", $"length {length}");
        Span<byte> bytes = ReadContent((int)length);
        uint crc = Crc32C.Append(Crc32C.Append(_crc, header[..8]), bytes), stated = BinaryPrimitives.ReadUInt32LittleEndian(header[8..]);
        if (crc != stated) throw Damage($"chunk CRC 0x{crc:X8}", $"0x{stated:X8}");
        section = CheckOrder(word);
        Offset += header.Length + bytes.Length;
        _crc = crc;
        if (!IsVerified) _hashes.Add(section, bytes);
        content = bytes;
        if (pastCache && _direct is null && (Offset - _dropped >= DropEveryBytes || section == CheckpointSection.Trailer)) Drop();
        return true;
    }

    /// <summary>Reads the content of a chunk. Memory is taken for what the file has, not for what a length in it says.</summary>
    private Span<byte> ReadContent(int length)
    {
        long from = Offset + CheckpointChunk.HeaderBytes, left = file.Length - from;
        if (left < length) throw Damage($"a chunk of {length} bytes", $"{Math.Max(left, 0)} bytes to the end of the file");
        Span<byte> bytes = _memory.ChunkOf(length).AsSpan(0, length);
        int count = Read(bytes, from);
        return count == length ? bytes : throw Damage($"a chunk of {length} bytes", $"{count} bytes to the end of the file");
    }

    /// <summary>What the disk does not give back is damage of this file, whose place an older one may take.</summary>
    private int Read(Span<byte> bytes, long offset)
    {
        try
        {
            return Source.ReadSteadily(bytes, offset);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            throw Damage($"{bytes.Length} bytes that can be read", e.Message);
        }
    }

    private void Drop()
    {
        file.DropCache();
        _dropped = Offset;
    }

    public LogDamage Damage(string expected, string found) => new(path, Offset, null, expected, found);

    private CheckpointSection CheckOrder(uint word)
    {
        var section = (CheckpointSection)word;
        bool isInOrder = _last == 0
            ? word == (uint)CheckpointSection.Header
            : word <= (uint)CheckpointSection.Trailer && section >= _last && section != CheckpointSection.Header;
        if (!isInOrder) throw Damage($"a section that may follow {_last}", $"0x{word:X}");
        return _last = section;
    }
}
