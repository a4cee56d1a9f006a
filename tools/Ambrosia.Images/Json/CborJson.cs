using Ambrosia.Protocol;

namespace Ambrosia.Images.Json;

/// <summary>Writes a CBOR item as JSON by its form alone: what an app's own serializer has written, and parts of the binding.</summary>
internal static class CborJson
{
    internal static void Write(ref CborReader from, JsonOutput to)
    {
        switch (from.PeekKind())
        {
            case CborKind.Unsigned: to.Integer((UInt128)from.ReadUInt64()); break;
            case CborKind.Negative: to.Integer(-1 - (Int128)from.ReadNegative()); break;
            case CborKind.Text: to.To.WriteStringValue(from.ReadUtf8()); break;
            case CborKind.Boolean: to.To.WriteBooleanValue(from.ReadBoolean()); break;
            case CborKind.Float: to.Float(from.ReadDouble(), 8); break;
            case CborKind.Null: from.ReadNull(); to.To.WriteNullValue(); break;
            case CborKind.Array: WriteArray(ref from, to); break;
            case CborKind.Map: WriteMap(ref from, to); break;
            default: WriteOther(ref from, to); break;
        }
    }

    private static void WriteArray(ref CborReader from, JsonOutput to)
    {
        to.To.WriteStartArray();
        for (int left = from.ReadArrayHeader(); left > 0; left--) Write(ref from, to);
        to.To.WriteEndArray();
    }

    /// <summary>Writes a map as an array of pairs: its keys need not be texts.</summary>
    private static void WriteMap(ref CborReader from, JsonOutput to)
    {
        to.To.WriteStartObject();
        to.To.WriteStartArray("$map");
        for (int left = from.ReadMapHeader(); left > 0; left--)
        {
            to.To.WriteStartArray();
            Write(ref from, to);
            Write(ref from, to);
            to.To.WriteEndArray();
        }
        to.To.WriteEndArray();
        to.To.WriteEndObject();
    }

    private static void WriteOther(ref CborReader from, JsonOutput to)
    {
        to.To.WriteStartObject();
        switch (from.PeekKind())
        {
            case CborKind.Bytes:
                to.To.WriteString("$bytes", Convert.ToHexStringLower(from.ReadBytes()));
                break;
            case CborKind.Tag:
                to.To.WriteNumber("$tag", from.ReadTag());
                to.To.WritePropertyName("$value");
                Write(ref from, to);
                break;
            case CborKind.Undefined:
                from.ReadUndefined();
                to.To.WriteNull("$undefined");
                break;
            default:
                to.To.WriteNumber("$simple", from.ReadSimple());
                break;
        }
        to.To.WriteEndObject();
    }
}
