using System.Buffers;
using Ambrosia.Protocol.Cbor;

namespace Ambrosia.Protocol;

/// <summary>This part holds what is not hot: what only lenient mode meets, and every throw.</summary>
public ref partial struct CborReader
{
    private static string NameOf(byte major) => major switch
    {
        CborMajor.Unsigned => "a number",
        CborMajor.Negative => "a negative number",
        CborMajor.Bytes => "bytes",
        CborMajor.Text => "text",
        CborMajor.Array => "an array",
        CborMajor.Map => "a map",
        _ => "a tag",
    };

    private static CborKind OtherKind(byte first) => first switch
    {
        CborMajor.False or CborMajor.True => CborKind.Boolean,
        CborMajor.Null => CborKind.Null,
        CborMajor.Undefined => CborKind.Undefined,
        CborMajor.Half or CborMajor.Single or CborMajor.Double => CborKind.Float,
        CborMajor.Break => CborKind.Break,
        _ => CborKind.Simple,
    };

    private readonly bool IsIndefinite(byte major) => _isLenient && FirstByte() == (major | CborMajor.Indefinite);

    private int PassIndefinite() => Pass(IndefiniteLength);

    /// <summary>Puts together a string in pieces. Each piece of a text is valid by itself (RFC 8949 §3.2.3).</summary>
    private ReadOnlySpan<byte> ReadPieces(byte major)
    {
        var whole = new ArrayBufferWriter<byte>();
        _at++;
        while (!TryReadBreak())
        {
            if (IsIndefinite(major)) throw Malformed(_at, "string in pieces inside a string in pieces");
            whole.Write(major == CborMajor.Text ? TakenText() : Taken(major));
        }
        return whole.WrittenSpan;
    }

    private readonly CborException WrongType(string expected) =>
        new(CborError.WrongType, _at, $"{PeekKind()} where {expected} is expected");

    private readonly CborException Truncated(int size) =>
        new(CborError.Truncated, _at, $"item of at least {size} bytes where {_bytes.Length - _at} are left");

    private readonly CborException BadInfo(byte first) => (first & ~CborMajor.Mask) == CborMajor.Indefinite
        && (first & CborMajor.Mask) is CborMajor.Bytes or CborMajor.Text or CborMajor.Array or CborMajor.Map
            ? NotDeterministic(_at, "indefinite length")
            : Malformed(_at, $"first byte 0x{first:X2}");

    private static CborException OutOfRange(int at, string what) => new(CborError.OutOfRange, at, what);

    private static CborException NotDeterministic(int at, string what) => new(CborError.NotDeterministic, at, what);

    private static CborException Malformed(int at, string what) => new(CborError.Malformed, at, what);

    private static CborException TooDeep(int at) => new(CborError.TooDeep, at, $"nested deeper than {DepthMax}");
}
