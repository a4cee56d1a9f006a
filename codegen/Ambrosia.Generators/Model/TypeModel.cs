namespace Ambrosia.Generators;

/// <summary>How a value of a type travels (docs/protocol.md P4.3).</summary>
internal enum Shape
{
    /// <summary>One item, written and read by methods of the CBOR writer and reader.</summary>
    Simple,
    Enum,
    Text,
    ByteArray,
    ByteMemory,
    ByteSpan,
    NullableValue,
    Array,
    List,
    Map,
    Tuple,
    Data,
}

/// <summary>A type of a contract, as far as its code needs it.</summary>
/// <param name="Name">As C# writes it, from <c>global::</c> on, with <c>?</c> where null is allowed.</param>
/// <param name="Schema">As the manifest writes it, the same for every language.</param>
/// <param name="IsNullable">A reference that may be null.</param>
/// <param name="Writer">Method of the writer (simple values, enums), or the codec's class (data).</param>
/// <param name="Reader">Method of the reader; for maps and lists the class that is made.</param>
/// <param name="Inner">Element, key and value, or the tuple's items.</param>
internal sealed record TypeModel(
    Shape Shape, string Name, string Schema, bool IsNullable, string Writer, string Reader, EquatableArray<TypeModel> Inner)
{
    /// <summary>The bytes themselves when alone (P4.2).</summary>
    internal bool IsRawWhenAlone => Shape is Shape.ByteMemory or Shape.ByteSpan;

    internal bool IsReference =>
        Shape is Shape.Text or Shape.ByteArray or Shape.Array or Shape.List or Shape.Map || (Shape == Shape.Data && Reader.Length == 0);

    /// <summary>Bytes that a value takes at most; 0: there is no bound.</summary>
    internal int BytesMax => Shape switch
    {
        Shape.NullableValue => Inner[0].BytesMax,
        Shape.Enum => 9,
        Shape.Simple => Writer switch
        {
            "WriteBoolean" => 1,
            "WriteInt64" or "WriteUInt64" or "WriteDouble" or "WriteTimeSpan" or "WriteDateOnly" or "WriteTimeOnly" => 9,
            "WriteSingle" => 5,
            "WriteChar" => 3,
            "WriteGuid" => 19,
            "WriteDecimal" => 21,
            "WriteDateTime" or "WriteDateTimeOffset" => 19,
            _ => 0,
        },
        _ => 0,
    };
}
