using System.Buffers;
using System.Text;
using System.Text.Json.Nodes;

namespace Ambrosia.Protocol.Tests;

/// <summary>Sequences of CBOR items in the diagnostic notation of the vectors, and through reader and writer to bytes again.</summary>
internal static class CborStructures
{
    public static IEnumerable<KeyValuePair<string, Structure>> All =>
        [new("cbor", new Structure(Decode, static (bytes, _) => Reencode(bytes), Ends.Anywhere))];

    private static JsonObject Decode(ReadOnlySpan<byte> bytes, JsonObject context)
    {
        bool lenient = context.ContainsKey("lenient");
        CborReader.Check(bytes, lenient);
        var items = new JsonArray();
        var reader = new CborReader(bytes, lenient);
        while (!reader.AtEnd)
        {
            var text = new StringBuilder();
            Show(ref reader, text);
            items.Add(text.ToString());
        }
        return new() { ["items"] = items };
    }

    public static byte[] Reencode(ReadOnlySpan<byte> bytes)
    {
        CborReader.Check(bytes);
        var buffer = new ArrayBufferWriter<byte>(1);
        var writer = new CborWriter(buffer);
        var reader = new CborReader(bytes);
        while (!reader.AtEnd) Copy(ref reader, ref writer);
        writer.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    private static void Show(ref CborReader from, StringBuilder to)
    {
        switch (from.PeekKind())
        {
            case CborKind.Unsigned: to.Append(from.ReadUInt64()); break;
            case CborKind.Negative: to.Append(-1 - (Int128)from.ReadNegative()); break;
            case CborKind.Bytes: to.Append($"h'{AllStructures.Hex(from.ReadBytes())}'"); break;
            case CborKind.Text: to.Append($"t'{AllStructures.Hex(from.ReadUtf8())}'"); break;
            case CborKind.Array: ShowMany(ref from, to, from.ReadArrayHeader(), isMap: false); break;
            case CborKind.Map: ShowMany(ref from, to, from.ReadMapHeader(), isMap: true); break;
            case CborKind.Tag:
                to.Append(from.ReadTag()).Append('(');
                Show(ref from, to);
                to.Append(')');
                break;
            case CborKind.Boolean: to.Append(from.ReadBoolean() ? "true" : "false"); break;
            case CborKind.Null: from.ReadNull(); to.Append("null"); break;
            case CborKind.Undefined: from.ReadUndefined(); to.Append("undefined"); break;
            case CborKind.Float: to.Append($"float'{BitConverter.DoubleToUInt64Bits(from.ReadDouble()):x16}'"); break;
            default: to.Append($"simple({from.ReadSimple()})"); break;
        }
    }

    private static void ShowMany(ref CborReader from, StringBuilder to, int count, bool isMap)
    {
        to.Append(isMap ? '{' : '[');
        for (int i = 0; count == CborReader.IndefiniteLength ? !from.TryReadBreak() : i < count; i++)
        {
            if (i > 0) to.Append(", ");
            Show(ref from, to);
            if (!isMap) continue;
            to.Append(": ");
            Show(ref from, to);
        }
        to.Append(isMap ? '}' : ']');
    }

    private static void Copy(ref CborReader from, ref CborWriter to)
    {
        int items = 0;
        switch (from.PeekKind())
        {
            case CborKind.Unsigned: to.WriteUInt64(from.ReadUInt64()); break;
            case CborKind.Negative: to.WriteNegative(from.ReadNegative()); break;
            case CborKind.Bytes: to.WriteBytes(from.ReadBytes()); break;
            case CborKind.Text: to.WriteString(from.ReadString()); break;
            case CborKind.Array: to.WriteArrayHeader(items = from.ReadArrayHeader()); break;
            case CborKind.Map: to.WriteMapHeader(items = from.ReadMapHeader()); items *= 2; break;
            case CborKind.Tag: to.WriteTag(from.ReadTag()); items = 1; break;
            case CborKind.Boolean: to.WriteBoolean(from.ReadBoolean()); break;
            case CborKind.Null: from.ReadNull(); to.WriteNull(); break;
            case CborKind.Undefined: from.ReadUndefined(); to.WriteUndefined(); break;
            case CborKind.Float: to.WriteDouble(from.ReadDouble()); break;
            default: to.WriteSimple(from.ReadSimple()); break;
        }
        for (; items > 0; items--) Copy(ref from, ref to);
    }
}
