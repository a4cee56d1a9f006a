namespace Ambrosia.Protocol;

/// <summary>What is wrong with an encoded item.</summary>
public enum CborError
{
    /// <summary>The bytes end inside an item, or a count is larger than what can be there.</summary>
    Truncated,

    /// <summary>Another type than the one asked for.</summary>
    WrongType,

    /// <summary>The value does not fit the type asked for.</summary>
    OutOfRange,

    /// <summary>No deterministic encoder writes this (RFC 8949 §4.2.1).</summary>
    NotDeterministic,

    /// <summary>Not CBOR at all, or text that is not UTF-8.</summary>
    Malformed,

    /// <summary>Nested deeper than <see cref="CborReader.DepthMax"/>.</summary>
    TooDeep,
}
