namespace Ambrosia.Protocol.Cbor;

/// <summary>
/// Defines the major types, which are the three high bits of an item's first byte (RFC 8949 §3.1), and the first bytes that the codec
/// knows.
/// </summary>
internal static class CborMajor
{
    public const byte Unsigned = 0 << 5, Negative = 1 << 5, Bytes = 2 << 5, Text = 3 << 5, Array = 4 << 5, Map = 5 << 5,
        Tag = 6 << 5, Other = 7 << 5;

    /// <summary>The mask of the major type.</summary>
    public const byte Mask = 0xE0;

    /// <summary>
    /// Additional information below this is the argument itself; this and the next three say that 1, 2, 4, 8 bytes follow.
    /// </summary>
    public const byte ArgumentFollows = 24;

    /// <summary>The additional information of a container or string of indefinite length.</summary>
    public const byte Indefinite = 31;

    public const byte False = 0xF4, True = 0xF5, Null = 0xF6, Undefined = 0xF7, SimpleFollows = 0xF8, Half = 0xF9, Single = 0xFA,
        Double = 0xFB, Break = 0xFF;

    /// <summary>The tag of a UUID as 16 bytes.</summary>
    public const ulong UuidTag = 37;
}
