using System.Buffers.Binary;
using System.Text;

namespace Ambrosia.Protocol.Payloads;

/// <summary>
/// Reads the fields of one control payload or record body (protocol P1). It never reads past its span and checks every count before it
/// uses it. Whatever is wrong is a <see cref="ProtocolViolation"/>: in a frame it cites the section that was broken, in a record always
/// L5.10.
/// </summary>
public ref struct PayloadReader
{
    private readonly ReadOnlySpan<byte> _bytes;
    private readonly string _section;
    private readonly bool _isDamage;
    private int _at;

    private PayloadReader(ReadOnlySpan<byte> bytes, string section, bool isDamage)
    {
        _bytes = bytes;
        _section = section;
        _isDamage = isDamage;
    }

    /// <summary>Creates a reader of a frame's payload. A payload that ends too early cites <paramref name="section"/>.</summary>
    public static PayloadReader OfFrame(ReadOnlySpan<byte> payload, string section) => new(payload, section, isDamage: false);

    /// <summary>
    /// Creates a reader of a file's structure or a record's body, where every fault is damage and cites <paramref name="section"/>.
    /// </summary>
    public static PayloadReader OfFile(ReadOnlySpan<byte> body, string section) => new(body, section, isDamage: true);

    public readonly int Position => _at;
    public readonly int Left => _bytes.Length - _at;

    public byte U8() => Take(1)[0];

    public ushort U16() => BinaryPrimitives.ReadUInt16LittleEndian(Take(2));

    public uint U32() => BinaryPrimitives.ReadUInt32LittleEndian(Take(4));

    public ulong U64() => BinaryPrimitives.ReadUInt64LittleEndian(Take(8));

    public long I64() => BinaryPrimitives.ReadInt64LittleEndian(Take(8));

    /// <summary>Reads a position in a log; one that no log reaches is malformed by L2.1.</summary>
    public Lsn Lsn()
    {
        ulong value = U64();
        return value < Protocol.Lsn.Limit ? new Lsn(value) : throw Violation("L2.1", $"Lsn {value}");
    }

    /// <summary>Reads a message's place in a log: the position of its record and its index there.</summary>
    public MessagePlace Place() => new(Lsn(), U32());

    /// <summary>Reads a byte of value 0 or 1; another value is malformed by P1.6.</summary>
    public bool Flag()
    {
        byte value = U8();
        return value <= 1 ? value == 1 : throw Violation("P1.6", $"flag of value {value}");
    }

    public ulong Varint()
    {
        DecodeStatus status = Payloads.Varint.TryRead(_bytes[_at..], out ulong value, out int size);
        if (status == DecodeStatus.NeedMore) throw Violation(_section, $"payload of {_bytes.Length} bytes ends inside a varint at {_at}");
        if (status == DecodeStatus.Malformed) throw Violation("P1.2", $"malformed varint at {_at}");
        _at += size;
        return value;
    }

    /// <summary>
    /// Reads the number of entries that follow, each at least <paramref name="entryBytesMin"/> long. It is never more than can be there.
    /// </summary>
    public int Count(int entryBytesMin)
    {
        ulong count = Varint();
        if (count > (ulong)(Left / entryBytesMin)) throw Violation(_section, $"{count} entries in {Left} bytes");
        return (int)count;
    }

    /// <summary>Reads a text of at most <paramref name="bytesMax"/> bytes of valid UTF-8.</summary>
    public string String(int bytesMax)
    {
        ReadOnlySpan<byte> bytes = Bytes(bytesMax);
        try
        {
            return PayloadWriter.StrictUtf8.GetString(bytes);
        }
        catch (DecoderFallbackException)
        {
            throw Violation("P1.3", $"text that is not UTF-8 before {_at}");
        }
    }

    /// <summary>Reads a count and at most <paramref name="bytesMax"/> bytes; the span is a view on the payload.</summary>
    public ReadOnlySpan<byte> Bytes(int bytesMax)
    {
        ulong count = Varint();
        if (count > (ulong)bytesMax) throw Violation("P1.3", $"{count} bytes at {_at} where at most {bytesMax} are allowed");
        return Take((int)count);
    }

    public Guid Uuid() => new(Take(16), bigEndian: true);

    /// <summary>Reads an instance's or replica's name (P1.5).</summary>
    public string Name()
    {
        string name = String(Names.CharsMax);
        return Names.IsValid(name) ? name : throw Violation("P1.5", "a name with characters that names do not have");
    }

    /// <summary>Reads a connection's message limit in bytes, which is 1 to 1 GiB (P2.3).</summary>
    public uint MessageLimit()
    {
        uint limit = U32();
        return limit is > 0 and <= SizeLimits.MessageBytesMaxLimit ? limit : throw Violation("P2.3", $"message limit of {limit} bytes");
    }

    /// <summary>Reads the next <paramref name="count"/> bytes as they are.</summary>
    public ReadOnlySpan<byte> Take(int count)
    {
        if (count > Left) throw Violation(_section, $"payload of {_bytes.Length} bytes ends inside a field of {count} bytes at {_at}");
        ReadOnlySpan<byte> taken = _bytes.Slice(_at, count);
        _at += count;
        return taken;
    }

    /// <summary>Reads everything that is left.</summary>
    public ReadOnlySpan<byte> Rest() => Take(Left);

    /// <summary>Refuses bytes after the last field (P2.6).</summary>
    public readonly void End()
    {
        if (Left != 0) throw Violation("P2.6", $"{Left} bytes after the last field");
    }

    /// <summary>Makes the violation that the caller throws for a value that it refuses.</summary>
    public readonly ProtocolViolation Violation(string section, string what) => new(_isDamage ? _section : section, what);
}
