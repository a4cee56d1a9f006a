using System.Buffers;
using System.Collections;
using Ambrosia.Protocol;

namespace Ambrosia.Binding.Tests;

/// <summary>Arguments by hand, and arguments as text.</summary>
internal static class Cbor
{
    internal static byte[] Of(params object?[] items)
    {
        if (items is [byte[] raw]) return raw;
        var bytes = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(bytes);
        foreach (object? item in items) Write(ref writer, item);
        writer.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    /// <summary>A sequence of items in a short notation; bytes that are none as hex.</summary>
    internal static string Text(ReadOnlySpan<byte> sequence)
    {
        try
        {
            var reader = new CborReader(sequence);
            var items = new List<string>();
            while (!reader.AtEnd) items.Add(Item(ref reader));
            return string.Join(" ", items);
        }
        catch (CborException)
        {
            return "raw " + Convert.ToHexString(sequence);
        }
    }

    private static void Write(ref CborWriter writer, object? item)
    {
        switch (item)
        {
            case null: writer.WriteNull(); break;
            case bool value: writer.WriteBoolean(value); break;
            case string value: writer.WriteString(value); break;
            case byte[] value: writer.WriteBytes(value); break;
            case Guid value: writer.WriteGuid(value); break;
            case Hashtable map:
                writer.WriteMapHeader(map.Count);
                foreach (object key in map.Keys.Cast<object>()
                    .OrderBy(static key => key is string text ? 100 + text.Length : Convert.ToInt32(key))
                    .ThenBy(static key => key as string, StringComparer.Ordinal))
                {
                    Write(ref writer, key);
                    Write(ref writer, map[key]);
                }
                break;
            case ICollection list:
                writer.WriteArrayHeader(list.Count);
                foreach (object? each in list) Write(ref writer, each);
                break;
            default: writer.WriteInt64(Convert.ToInt64(item)); break;
        }
    }

    private static string Item(ref CborReader reader)
    {
        switch (reader.PeekKind())
        {
            case CborKind.Unsigned or CborKind.Negative: return reader.ReadInt64().ToString();
            case CborKind.Text: return $"'{reader.ReadString()}'";
            case CborKind.Bytes: return $"h'{Convert.ToHexString(reader.ReadBytes())}'";
            case CborKind.Boolean: return reader.ReadBoolean() ? "true" : "false";
            case CborKind.Null: reader.ReadNull(); return "null";
            case CborKind.Tag: return $"{reader.ReadTag()}({Item(ref reader)})";
            case CborKind.Array: return $"[{Items(ref reader, reader.ReadArrayHeader())}]";
            case CborKind.Map: return $"{{{Items(ref reader, 2 * reader.ReadMapHeader())}}}";
            default: return $"h'{Convert.ToHexString(reader.ReadEncoded())}'";
        }
    }

    private static string Items(ref CborReader reader, int count)
    {
        var items = new List<string>();
        for (int i = 0; i < count; i++) items.Add(Item(ref reader));
        return string.Join(" ", items);
    }
}
