using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using System.Text.Unicode;

namespace Ambrosia.Protocol.Payloads;

/// <summary>
/// Writes the fields of control payloads and record bodies (protocol P1). Pass it by reference, and end with <see cref="Flush"/> over a
/// growable buffer. A value that breaks a limit is the caller's mistake and throws <see cref="ArgumentException"/>.
/// </summary>
public ref struct PayloadWriter
{
    /// <summary>This UTF-8 refuses lone surrogates instead of replacing them, since what is written must read back the same.</summary>
    internal static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private ByteTarget _target;

    /// <summary>Creates a writer into a span that has room for everything that will be written.</summary>
    public PayloadWriter(Span<byte> to) => _target = new ByteTarget(to);

    public PayloadWriter(IBufferWriter<byte> to) => _target = new ByteTarget(to);

    /// <summary>The number of bytes written so far.</summary>
    public readonly int Written => checked((int)_target.Written);

    public void U8(byte value) => _target.Put(value);

    public void U16(ushort value)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(_target.Reserve(2), value);
        _target.Advance(2);
    }

    public void U32(uint value)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(_target.Reserve(4), value);
        _target.Advance(4);
    }

    public void U64(ulong value)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(_target.Reserve(8), value);
        _target.Advance(8);
    }

    public void I64(long value) => U64((ulong)value);

    /// <summary>Writes a message's place in a log: the position of its record and its index there.</summary>
    public void Place(MessagePlace value)
    {
        U64(value.Record.Value);
        U32(value.Index);
    }

    /// <summary>Writes a number as unsigned LEB128 in its shortest form (P1.2).</summary>
    public void Varint(ulong value) => _target.Advance(Payloads.Varint.Write(_target.Reserve(Payloads.Varint.SizeOf(value)), value));

    /// <summary>Writes a byte count and the text as UTF-8 (P1.3), of at most <paramref name="bytesMax"/> bytes.</summary>
    public void String(string value, int bytesMax)
    {
        int size = StrictUtf8.GetByteCount(value);
        if (size > bytesMax) throw new ArgumentException($"text of {size} bytes where at most {bytesMax} are allowed", nameof(value));
        Varint((ulong)size);
        _target.Advance(StrictUtf8.GetBytes(value, _target.Reserve(size)));
    }

    /// <summary>
    /// Writes a text that only people read: what does not fit is cut off at a character, and what is not Unicode is replaced.
    /// </summary>
    public void CutString(string value, int bytesMax)
    {
        Span<byte> text = stackalloc byte[bytesMax];
        Utf8.FromUtf16(value, text, out _, out int size, replaceInvalidSequences: true);
        Bytes(text[..size], bytesMax);
    }

    /// <summary>Writes a byte count and the bytes (P1.3), at most <paramref name="bytesMax"/> of them.</summary>
    public void Bytes(scoped ReadOnlySpan<byte> value, int bytesMax)
    {
        if (value.Length > bytesMax)
            throw new ArgumentException($"{value.Length} bytes where at most {bytesMax} are allowed", nameof(value));
        Varint((ulong)value.Length);
        _target.Put(value);
    }

    /// <summary>Writes a UUID as 16 bytes, big-endian (P1.4).</summary>
    public void Uuid(Guid value)
    {
        value.TryWriteBytes(_target.Reserve(16), bigEndian: true, out int size);
        _target.Advance(size);
    }

    /// <summary>Writes a name of the grammar of P1.5.</summary>
    public void Name(string value)
    {
        if (!Names.IsValid(value))
            throw new ArgumentException($"'{value}' is not a name of 1 to {Names.CharsMax} letters, digits, '_' and '-'", nameof(value));
        String(value, Names.CharsMax);
    }

    /// <summary>Writes the bytes as they are, without a count.</summary>
    public void Raw(scoped ReadOnlySpan<byte> value) => _target.Put(value);

    /// <summary>Hands what was written to the growable buffer.</summary>
    public void Flush() => _target.Flush();
}
