namespace Ambrosia.Protocol;

/// <summary>An encoded argument, value or state could not be read. The same bytes always fail at the same place.</summary>
public sealed class CborException(CborError error, int offset, string what) : Exception($"{what} at byte {offset}")
{
    public CborError Error { get; } = error;

    /// <summary>The offset in the bytes that the reader was given.</summary>
    public int Offset { get; } = offset;
}

/// <summary>Says what is wrong with an encoded item.</summary>
public enum CborError
{
    /// <summary>The bytes end inside an item, or a count is larger than what can be there.</summary>
    Truncated,

    /// <summary>The item has another type than the one asked for.</summary>
    WrongType,

    /// <summary>The value does not fit the type asked for.</summary>
    OutOfRange,

    /// <summary>No deterministic encoder writes this (RFC 8949 §4.2.1).</summary>
    NotDeterministic,

    /// <summary>The bytes are no CBOR at all, or a text is not UTF-8.</summary>
    Malformed,

    /// <summary>The item is nested deeper than <see cref="CborReader.DepthMax"/>.</summary>
    TooDeep,
}
