using Ambrosia.Generators.Roslyn;

namespace Ambrosia.Generators.Serialization;

/// <summary>The shape says in which way a value of a type travels (docs/contract.md C3).</summary>
internal enum Shape
{
    /// <summary>The value is one CBOR item, which a method of the CBOR writer writes and one of the reader reads.</summary>
    Simple,
    Enum,
    Text,

    /// <summary>The value is a text that is made of it and parsed: a Uri, a Version, a BigInteger.</summary>
    Parsed,
    ByteArray,
    ByteMemory,
    ByteSpan,
    NullableValue,
    Array,
    List,
    Map,
    Tuple,
    Data,
    Union,
}

/// <summary>It describes a type that a contract names, as far as generated code needs to know it.</summary>
/// <param name="Name">As C# writes it, from <c>global::</c> on, with <c>?</c> where null is allowed.</param>
/// <param name="Schema">As the manifest writes it, the same for every language.</param>
/// <param name="IsNullable">A reference that may be null.</param>
/// <param name="Writer">Method of the writer (simple values, enums), how a text is made, or the codec's class (data).</param>
/// <param name="Reader">Method of the reader, or how a text is parsed.</param>
/// <param name="Inner">Element, key and value, the tuple's items, or the union's cases.</param>
internal sealed record TypeModel(
    Shape Shape, string Name, string Schema, bool IsNullable, string Writer, string Reader, EquatableArray<TypeModel> Inner)
{
    /// <summary>It says how a list or map is taken apart and made; null of other types.</summary>
    internal CollectionForm? Form { get; init; }

    /// <summary>
    /// It holds how a use of a generic data type travels. Null of other types, and where the use stands within itself:
    /// <see cref="IsGenericData"/> tells the two apart.
    /// </summary>
    internal DataModel? Construction { get; init; }

    /// <summary>
    /// It is true of a use of a generic data type. Its codec stands in each class that needs it, where it is found by the type's name,
    /// which is the <see cref="Writer"/> here.
    /// </summary>
    internal bool IsGenericData { get; init; }

    /// <summary>True if it is a collection that is a struct, and so never null.</summary>
    internal bool IsValueCollection { get; init; }

    /// <summary>It holds what the manifest says of an enum; null of other types.</summary>
    internal EnumModel? Enum { get; init; }

    /// <summary>
    /// It holds what the manifest says of a union; null of other types. Its cases are <see cref="Inner"/>, in the same order.
    /// </summary>
    internal UnionModel? Union { get; init; }

    /// <summary>
    /// True if the value is bytes that travel as they are, without CBOR around them, where they are the only parameter or the result
    /// (P4.2).
    /// </summary>
    internal bool IsRawWhenAlone => Shape is Shape.ByteMemory or Shape.ByteSpan;

    /// <summary>True of reference types: generated code checks them for null.</summary>
    internal bool IsReference =>
        (Shape is Shape.Text or Shape.ByteArray or Shape.Array or Shape.List or Shape.Map or Shape.Union && !IsValueCollection)
        || (Shape == Shape.Parsed && Name.IndexOf("BigInteger", System.StringComparison.Ordinal) < 0)
        || (Shape == Shape.Data && Reader.Length == 0);

    /// <summary>The bytes that an encoded value takes at most, or 0 where there is no bound.</summary>
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

/// <summary>It describes an enum that a contract names: the manifest gives its members to other languages and to tools.</summary>
/// <param name="Name">The name in its language, as it stands in the schema.</param>
/// <param name="Number">The schema of its numbers.</param>
internal sealed record EnumModel(string Name, string Number, EquatableArray<EnumMember> Members);

/// <summary>It is a member of an enum, with its number as decimal text.</summary>
internal sealed record EnumMember(string Name, string Value);

/// <summary>It describes a union that a contract names.</summary>
/// <param name="Name">The name in its language, as it stands in the schema.</param>
/// <param name="Cases">The cases in the order of their numbers.</param>
internal sealed record UnionModel(string Name, EquatableArray<UnionCase> Cases);

/// <summary>It is a case of a union: its number on the wire, and the schema of its data.</summary>
internal sealed record UnionCase(uint Number, string Schema);
