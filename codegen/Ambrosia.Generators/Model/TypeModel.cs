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

    internal bool IsReference => Shape is Shape.Text or Shape.ByteArray or Shape.Array or Shape.List or Shape.Map || (Shape == Shape.Data && Reader.Length == 0);

    /// <summary>Without the mark of null.</summary>
    internal string BareName => IsNullable && Name.EndsWith("?", System.StringComparison.Ordinal) ? Name.Substring(0, Name.Length - 1) : Name;
}
