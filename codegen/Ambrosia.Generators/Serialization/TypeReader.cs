using System.Collections.Generic;
using System.Collections.Immutable;
using System.Globalization;
using System.Linq;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Serialization;

/// <summary>Decides which types can travel between instances, and how (docs/contract.md C3).</summary>
internal static class TypeReader
{
    private static readonly Dictionary<SpecialType, (string Schema, string Writer, string Reader)> s_simple = new()
    {
        [SpecialType.System_Boolean] = ("bool", "WriteBoolean", "ReadBoolean"),
        [SpecialType.System_SByte] = ("int8", "WriteInt64", "ReadSByte"),
        [SpecialType.System_Int16] = ("int16", "WriteInt64", "ReadInt16"),
        [SpecialType.System_Int32] = ("int32", "WriteInt64", "ReadInt32"),
        [SpecialType.System_Int64] = ("int64", "WriteInt64", "ReadInt64"),
        [SpecialType.System_Byte] = ("uint8", "WriteUInt64", "ReadByte"),
        [SpecialType.System_UInt16] = ("uint16", "WriteUInt64", "ReadUInt16"),
        [SpecialType.System_UInt32] = ("uint32", "WriteUInt64", "ReadUInt32"),
        [SpecialType.System_UInt64] = ("uint64", "WriteUInt64", "ReadUInt64"),
        [SpecialType.System_Single] = ("float32", "WriteSingle", "ReadSingle"),
        [SpecialType.System_Double] = ("float64", "WriteDouble", "ReadDouble"),
        [SpecialType.System_Decimal] = ("decimal", "WriteDecimal", "ReadDecimal"),
        [SpecialType.System_Char] = ("char", "WriteChar", "ReadChar"),
        [SpecialType.System_DateTime] = ("datetime", "WriteDateTime", "ReadDateTime"),
    };

    private static readonly Dictionary<string, (string Schema, string Writer, string Reader)> s_structs = new()
    {
        ["System.DateTimeOffset"] = ("datetimeoffset", "WriteDateTimeOffset", "ReadDateTimeOffset"),
        ["System.TimeSpan"] = ("timespan", "WriteTimeSpan", "ReadTimeSpan"),
        ["System.DateOnly"] = ("date", "WriteDateOnly", "ReadDateOnly"),
        ["System.TimeOnly"] = ("time", "WriteTimeOnly", "ReadTimeOnly"),
        ["System.Guid"] = ("guid", "WriteGuid", "ReadGuid"),
    };

    /// <summary>
    /// Some types travel as texts: these are the expression of the text of <c>value</c>, and that of the value of a text, put at {0}.
    /// </summary>
    private static readonly Dictionary<string, (string Write, string Read)> s_texts = new()
    {
        ["System.Uri"] = ("global::Ambrosia.Protocol.Runs.UriForms.TextOf(value)", "new global::System.Uri({0}, global::System.UriKind.RelativeOrAbsolute)"),
        ["System.Version"] = ("value.ToString()", "global::System.Version.Parse({0})"),
        ["System.Numerics.BigInteger"] = ("value.ToString(\"R\", global::System.Globalization.CultureInfo.InvariantCulture)",
            "global::System.Numerics.BigInteger.Parse({0}, global::System.Globalization.NumberStyles.AllowLeadingSign, global::System.Globalization.CultureInfo.InvariantCulture)"),
    };

    /// <summary>Returns the model of a type, or null where values of it cannot travel.</summary>
    /// <param name="open">The uses of generic data within which the type stands.</param>
    internal static TypeModel? Read(ITypeSymbol type, OpenUse? open = null)
    {
        string name = Symbols.FullName(type);
        if (s_simple.TryGetValue(type.SpecialType, out var simple)) return Leaf(Shape.Simple, name, simple);
        bool nullable = type.IsReferenceType && type.NullableAnnotation != NullableAnnotation.NotAnnotated;
        string mark = nullable ? "?" : "";
        if (type.SpecialType == SpecialType.System_String) return Node(Shape.Text, name, "text" + mark, nullable);
        if (type.TypeKind == TypeKind.Enum) return ReadEnum((INamedTypeSymbol)type, name);
        if (type is IArrayTypeSymbol array) return ReadArray(array, name, nullable, mark, open);
        // The declaration of a generic data type is judged as if each parameter could travel; each use judges its arguments.
        if (type is ITypeParameterSymbol) return Leaf(Shape.Simple, name, (type.Name, "", ""));
        if (type is not INamedTypeSymbol named) return null;
        string definition = named.OriginalDefinition.ToDisplayString();
        if (s_structs.TryGetValue(definition, out var known)) return Leaf(Shape.Simple, name, known);
        if (s_texts.TryGetValue(definition, out var text))
            return new TypeModel(Shape.Parsed, name, "text" + mark, nullable, text.Write, text.Read, default);
        if (named.IsTupleType) return ReadTuple(named, name, open);
        if (named.IsGenericType) return ReadGeneric(named, definition, name, nullable, mark, open);
        if (Symbols.Attribute(named, "DataAttribute") is not null) return ReadData(named, name, nullable, mark);
        return UnionReader.IsUnion(named) ? UnionReader.Read(named, name, nullable, mark) : null;
    }

    /// <summary>Returns what it is that cannot travel: the innermost of the types that a type is made of, or the type itself.</summary>
    internal static ITypeSymbol CulpritOf(ITypeSymbol type) =>
        PartsOf(type).FirstOrDefault(static part => Read(part) is null) is { } part ? CulpritOf(part) : type;

    private static IEnumerable<ITypeSymbol> PartsOf(ITypeSymbol type) => type switch
    {
        IArrayTypeSymbol array => [array.ElementType],
        INamedTypeSymbol named => named.TypeArguments,
        _ => [],
    };

    /// <summary>Returns the name of the class that holds the generated codec of a data type.</summary>
    internal static string CodecName(INamedTypeSymbol data) =>
        data.ContainingType is null ? data.Name + "DataCodec" : CodecPrefix(data.ContainingType) + data.Name + "DataCodec";

    private static string CodecPrefix(INamedTypeSymbol containing) =>
        (containing.ContainingType is null ? "" : CodecPrefix(containing.ContainingType)) + containing.Name + "_";

    private static TypeModel? ReadGeneric(INamedTypeSymbol type, string definition, string name, bool nullable, string mark, OpenUse? open)
    {
        if (definition == "System.ReadOnlySpan<T>") return IsByte(type) ? Node(Shape.ByteSpan, name, "bytes", false) : null;
        if (definition == "System.ReadOnlyMemory<T>") return IsByte(type) ? Node(Shape.ByteMemory, name, "bytes", false) : null;
        if (type.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T)
            return Read(type.TypeArguments[0], open) is { } value
                ? Node(Shape.NullableValue, name, value.Schema + "?", true, "", value) : null;
        bool isValue = type.IsValueType;
        if (CollectionForm.IsList(definition))
            return Read(type.TypeArguments[0], open) is { } item && CollectionForm.OfList(definition, item) is { } list
                ? Node(Shape.List, name, $"list<{item.Schema}>{mark}", nullable, "", item) with
                {
                    Form = list, IsValueCollection = isValue,
                }
                : null;
        if (GenericData.Is(type)) return GenericData.Read(type, name, nullable, mark, open);
        if (!CollectionForm.IsMap(definition)) return null;
        if (Read(type.TypeArguments[0], open) is not { } key || Read(type.TypeArguments[1], open) is not { } content) return null;
        return CollectionForm.OfMap(definition, key, content) is { } map
            ? Node(Shape.Map, name, $"map<{key.Schema},{content.Schema}>{mark}", nullable, "", key, content) with { Form = map } : null;
    }

    private static TypeModel? ReadArray(IArrayTypeSymbol array, string name, bool nullable, string mark, OpenUse? open)
    {
        if (!array.IsSZArray) return null;
        if (array.ElementType.SpecialType == SpecialType.System_Byte) return Node(Shape.ByteArray, name, "bytes" + mark, nullable);
        return Read(array.ElementType, open) is { } item ? Node(Shape.Array, name, $"list<{item.Schema}>{mark}", nullable, "", item) : null;
    }

    private static TypeModel? ReadTuple(INamedTypeSymbol tuple, string name, OpenUse? open)
    {
        var items = tuple.TupleElements.Select(element => Read(element.Type, open)).ToArray();
        if (items.Any(item => item is null || item.Shape == Shape.ByteSpan)) return null;
        return Node(Shape.Tuple, name, $"tuple<{string.Join(",", items.Select(item => item!.Schema))}>", false, "", items!);
    }

    private static TypeModel ReadEnum(INamedTypeSymbol type, string name)
    {
        (string schema, string writer, string reader) = s_simple[type.EnumUnderlyingType!.SpecialType];
        IEnumerable<EnumMember> members = type.GetMembers().OfType<IFieldSymbol>().Where(static field => field.HasConstantValue)
            .Select(static field => new EnumMember(field.Name, System.Convert.ToString(field.ConstantValue, CultureInfo.InvariantCulture)));
        return new TypeModel(Shape.Enum, name, $"enum<{type.ToDisplayString()},{schema}>", false, writer, reader, default)
        {
            Enum = new EnumModel(type.ToDisplayString(), schema, new EquatableArray<EnumMember>(members)),
        };
    }

    private static TypeModel ReadData(INamedTypeSymbol type, string name, bool nullable, string mark)
    {
        string space = Symbols.NamespaceOf(type);
        string codec = (space.Length == 0 ? "global::" : $"global::{space}.") + CodecName(type);
        return new TypeModel(Shape.Data, name, $"data<{Symbols.DisplayName(type)}>{mark}", nullable, codec,
            type.IsValueType ? "struct" : "", default);
    }

    private static bool IsByte(INamedTypeSymbol type) => type.TypeArguments[0].SpecialType == SpecialType.System_Byte;

    private static TypeModel Leaf(Shape shape, string name, (string Schema, string Writer, string Reader) how) =>
        new(shape, name, how.Schema, false, how.Writer, how.Reader, default);

    private static TypeModel Node(Shape shape, string name, string schema, bool nullable, string made = "", params TypeModel[] inner) =>
        new(shape, name, schema, nullable, "", made, new EquatableArray<TypeModel>(inner.ToImmutableArray()));
}
