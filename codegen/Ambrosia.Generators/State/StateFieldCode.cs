using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.State;

/// <summary>
/// Makes the code that writes a field to an image and reads it from one. Numbers and texts are written in place, objects by reference; the
/// binding decides about the rest.
/// </summary>
internal static class StateFieldCode
{
    private const string Bits = "global::System.BitConverter";

    private static readonly Dictionary<SpecialType, (string Write, string Read)> s_simple = new()
    {
        [SpecialType.System_Boolean] = ("to.WriteBoolean({0});", "from.ReadBoolean()"),
        [SpecialType.System_SByte] = ("to.WriteInt64({0});", "from.ReadSByte()"),
        [SpecialType.System_Int16] = ("to.WriteInt64({0});", "from.ReadInt16()"),
        [SpecialType.System_Int32] = ("to.WriteInt64({0});", "from.ReadInt32()"),
        [SpecialType.System_Int64] = ("to.WriteInt64({0});", "from.ReadInt64()"),
        [SpecialType.System_Byte] = ("to.WriteUInt64({0});", "from.ReadByte()"),
        [SpecialType.System_UInt16] = ("to.WriteUInt64({0});", "from.ReadUInt16()"),
        [SpecialType.System_UInt32] = ("to.WriteUInt64({0});", "from.ReadUInt32()"),
        [SpecialType.System_UInt64] = ("to.WriteUInt64({0});", "from.ReadUInt64()"),
        [SpecialType.System_Char] = ("to.WriteUInt64({0});", "from.ReadChar()"),
        [SpecialType.System_Single] = ($"to.WriteUInt64({Bits}.SingleToUInt32Bits({{0}}));",
            $"{Bits}.UInt32BitsToSingle(from.ReadUInt32())"),
        [SpecialType.System_Double] = ($"to.WriteUInt64({Bits}.DoubleToUInt64Bits({{0}}));",
            $"{Bits}.UInt64BitsToDouble(from.ReadUInt64())"),
        [SpecialType.System_Decimal] = ("to.WriteDecimal({0});", "from.ReadDecimal()"),
        [SpecialType.System_DateTime] = ("to.WriteDateTime({0});", "from.ReadDateTime()"),
        [SpecialType.System_String] = ("graph.WriteText(ref to, {0});", "graph.ReadText(ref from)"),
    };

    /// <summary>Returns a statement that writes the value {0} of the field with the index {1}, and an expression that reads one.</summary>
    /// <param name="name">The name of the type, from <c>global::</c> on.</param>
    internal static (string Write, string Read) Of(ITypeSymbol type, string name)
    {
        if (s_simple.TryGetValue(type.SpecialType, out var simple)) return simple;
        if (type is INamedTypeSymbol { TypeKind: TypeKind.Enum, EnumUnderlyingType.SpecialType: { } width })
        {
            string wide = width == SpecialType.System_UInt64 ? "ulong" : "long",
                method = width == SpecialType.System_UInt64 ? "UInt64" : "Int64";
            return ($"to.Write{method}(unchecked(({wide}){{0}}));", $"unchecked(({name})from.Read{method}())");
        }
        return type.IsReferenceType || type.TypeKind == TypeKind.Error
            ? ("graph.WriteReference(ref to, this, {1}, {0});", $"graph.ReadReference<{name}>(ref from)")
            : ("graph.WriteField(ref to, this, {1}, {0});", $"graph.ReadValue<{name}>(ref from)");
    }
}

/// <summary>
/// Names the types of fields that are made of proxies of this compilation. Those proxies do not exist while the generator runs, so their
/// names are those that they will have.
/// </summary>
internal static class UngeneratedProxies
{
    private const string Suffix = "Proxy";

    /// <summary>Returns the type's name from <c>global::</c> on, or null where a part of it does not exist and is no proxy.</summary>
    internal static string? NameOf(ITypeSymbol type, ISymbol at, Compilation compilation)
    {
        string name = Symbols.PlainName(type);
        var ungenerated = new HashSet<string>();
        Collect(type, ungenerated);
        foreach (string each in ungenerated)
        {
            if (!each.EndsWith(Suffix, System.StringComparison.Ordinal) || at.DeclaringSyntaxReferences.FirstOrDefault() is not { } place)
                return null;
            string contract = each.Substring(0, each.Length - Suffix.Length);
            ISymbol? found = compilation.GetSemanticModel(place.SyntaxTree).LookupNamespacesAndTypes(place.Span.Start, name: contract)
                .FirstOrDefault();
            if (found is not INamedTypeSymbol { TypeKind: TypeKind.Interface, ContainingType: null } known) return null;
            string space = Symbols.NamespaceOf(known);
            name = Regex.Replace(name, $@"(?<![\w.:@]){Regex.Escape(each)}(?!\w)\??",
                space.Length == 0 ? $"global::{each}" : $"global::{space}.{each}");
        }
        return name;
    }

    private static void Collect(ITypeSymbol type, ISet<string> into)
    {
        if (type is IArrayTypeSymbol array) Collect(array.ElementType, into);
        if (type.TypeKind == TypeKind.Error) into.Add(type.Name);
        else if (type is INamedTypeSymbol named)
            foreach (ITypeSymbol argument in named.TypeArguments) Collect(argument, into);
    }
}
