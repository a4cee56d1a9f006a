using System.Collections.Generic;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators;

/// <summary>
/// How a field of a type is written to an image and read from one: numbers and texts in place, objects by reference, the
/// rest as the binding says.
/// </summary>
internal static class StateValues
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

    /// <param name="name">From <c>global::</c> on.</param>
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
