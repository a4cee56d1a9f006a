using System.Buffers;

namespace Ambrosia.Protocol.Tests;

/// <summary>A CBOR item as a tree, written by our writer.</summary>
internal abstract record CborItem
{
    public sealed record Unsigned(ulong Value) : CborItem;
    public sealed record Negative(ulong Offset) : CborItem;
    public sealed record Bytes(byte[] Value) : CborItem;
    public sealed record Text(string Value) : CborItem;
    public sealed record Float(double Value) : CborItem;
    public sealed record Boolean(bool Value) : CborItem;
    public sealed record Null : CborItem;
    public sealed record Tag(ulong Number, CborItem Item) : CborItem;
    public sealed record Array(CborItem[] Items) : CborItem;
    public sealed record Map(KeyValuePair<CborItem, CborItem>[] Pairs) : CborItem
    {
        /// <summary>Pairs of neighbours, in the order of their keys' encoding, each key once.</summary>
        public static Map Sorted(IEnumerable<CborItem> items) => new([.. items.Chunk(2).Where(static pair => pair.Length == 2)
            .Select(static pair => KeyValuePair.Create(pair[0], pair[1]))
            .DistinctBy(static pair => Convert.ToHexString(pair.Key.Encode()))
            .OrderBy(static pair => Convert.ToHexString(pair.Key.Encode()), StringComparer.Ordinal)]);
    }

    public byte[] Encode()
    {
        var buffer = new TinySteps();
        var writer = new CborWriter(buffer);
        Write(ref writer);
        writer.Flush();
        return [.. buffer.Bytes];
    }

    private void Write(ref CborWriter to)
    {
        switch (this)
        {
            case Unsigned x: to.WriteUInt64(x.Value); break;
            case Negative x: to.WriteNegative(x.Offset); break;
            case Bytes x: to.WriteBytes(x.Value); break;
            case Text x: to.WriteString(x.Value); break;
            case Float x: to.WriteDouble(x.Value); break;
            case Boolean x: to.WriteBoolean(x.Value); break;
            case Null: to.WriteNull(); break;
            case Tag x:
                to.WriteTag(x.Number);
                x.Item.Write(ref to);
                break;
            case Array x:
                to.WriteArrayHeader(x.Items.Length);
                foreach (CborItem item in x.Items) item.Write(ref to);
                break;
            case Map x:
                to.WriteMapHeader(x.Pairs.Length);
                foreach ((CborItem key, CborItem value) in x.Pairs) { key.Write(ref to); value.Write(ref to); }
                break;
        }
    }
}
