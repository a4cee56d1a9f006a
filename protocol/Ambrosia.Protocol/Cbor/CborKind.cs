namespace Ambrosia.Protocol;

/// <summary>What the next item is.</summary>
public enum CborKind : byte
{
    /// <summary>There is no next item.</summary>
    None,
    Unsigned, Negative, Bytes, Text, Array, Map, Tag, Boolean, Null, Undefined, Simple, Float,

    /// <summary>The end of a container of indefinite length; only in lenient mode.</summary>
    Break,
}
