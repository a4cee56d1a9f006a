using System.Globalization;
using System.Linq;
using System.Threading;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Serialization;

/// <summary>
/// Encodes the default values of optional parameters, for the manifest (docs/contract.md C1.4): a callee in another language takes them
/// where an argument is missing.
/// </summary>
internal static class DefaultEncoding
{
    private const int UuidTag = 37, UuidBytes = 16;

    /// <summary>
    /// Returns the default as hexadecimal CBOR. Null: the parameter has none, or one that no argument of its type can say, which is a null
    /// where the type does not allow null.
    /// </summary>
    internal static string? Of(IParameterSymbol parameter)
    {
        if (!parameter.HasExplicitDefaultValue) return null;
        var to = new HexCbor();
        bool isWritten = parameter.ExplicitDefaultValue is { } value ? TryWrite(value, to) : TryWriteZero(parameter.Type, to);
        return isWritten ? to.ToString() : null;
    }

    /// <summary>Writes a constant of C#. That of an enum is its number.</summary>
    private static bool TryWrite(object value, HexCbor to)
    {
        switch (value)
        {
            case bool flag: to.Boolean(flag); return true;
            case char unit: to.Integer(unit); return true;
            case string text: return to.TryText(text);
            case float or double: to.Float(System.Convert.ToDouble(value, CultureInfo.InvariantCulture)); return true;
            case ulong number: to.Head(HexCbor.Unsigned, number); return true;
            case decimal number:
                to.Head(HexCbor.Array, 4);
                foreach (int part in decimal.GetBits(number)) to.Integer(part);
                return true;
            case sbyte or byte or short or ushort or int or uint or long:
                to.Integer(System.Convert.ToInt64(value, CultureInfo.InvariantCulture));
                return true;
            default: return false;
        }
    }

    /// <summary>Writes what <c>default</c> is of a type: null where that travels, else zeros.</summary>
    private static bool TryWriteZero(ITypeSymbol type, HexCbor to)
    {
        if (TypeReader.Read(type) is not { } model) return false;
        if (model.IsNullable)
        {
            to.Null();
            return true;
        }
        switch (model.Shape)
        {
            case Shape.Simple: WriteZero(model.Writer, to); return true;
            case Shape.Enum: to.Integer(0); return true;
            case Shape.ByteMemory or Shape.ByteSpan: to.Bytes(0); return true;
            case Shape.Tuple:
                to.Head(HexCbor.Array, (ulong)model.Inner.Count);
                return ((INamedTypeSymbol)type).TupleElements.All(element => TryWriteZero(element.Type, to));
            case Shape.Data when type.IsValueType: return TryWriteZeroData((INamedTypeSymbol)type, to);
            default: return false;
        }
    }

    private static void WriteZero(string writer, HexCbor to)
    {
        switch (writer)
        {
            case "WriteBoolean": to.Boolean(false); break;
            case "WriteSingle" or "WriteDouble": to.Float(0); break;
            case "WriteDecimal": to.ZeroItems(4); break;
            case "WriteDateTime" or "WriteDateTimeOffset": to.ZeroItems(2); break;
            case "WriteGuid":
                to.Head(HexCbor.Tag, UuidTag);
                to.Bytes(UuidBytes);
                break;
            default: to.Integer(0); break;
        }
    }

    /// <summary>Writes the zeros of a struct, which no constructor has seen.</summary>
    private static bool TryWriteZeroData(INamedTypeSymbol type, HexCbor to)
    {
        if (DataReader.Read(type, CancellationToken.None).Model is not { } data) return false;
        to.Head(HexCbor.Map, (ulong)data.Members.Count);
        foreach (DataMember member in data.Members)
        {
            if (member.Number is { } number) to.Head(HexCbor.Unsigned, number);
            else if (!to.TryText(member.Name)) return false;
            ISymbol symbol = type.GetMembers(member.Name).First(static each => each is IPropertySymbol or IFieldSymbol);
            if (!TryWriteZero(symbol is IPropertySymbol property ? property.Type : ((IFieldSymbol)symbol).Type, to)) return false;
        }
        return true;
    }
}
