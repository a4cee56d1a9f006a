using Ambrosia.Protocol;

namespace Ambrosia.Images.Masking;

/// <summary>
/// This part masks CBOR items of which nothing says the type: what an app's serializer has written, or arguments of an unknown method.
/// </summary>
internal sealed partial class ValueMasker
{
    private const ulong GuidTag = 37;

    /// <summary>Masks one whole item. The names of its maps, where these are texts, are names of places.</summary>
    /// <param name="isObject">The item is a map whose keys are names that the app's code has; false: they may be the app's data.</param>
    internal void Item(PlaceName at, Span<byte> item, bool isObject = false)
    {
        CborKind kind = new CborReader(item).PeekKind();
        switch (kind)
        {
            case CborKind.Text: Text(at, ContentOf(item)); break;
            case CborKind.Bytes: Bytes(at, ContentOf(item)); break;
            case CborKind.Unsigned or CborKind.Negative: TryItem(at, "i8", item); break;
            case CborKind.Float: TryItem(at, MessageFloat, item); break;
            case CborKind.Boolean: TryItem(at, "b", item); break;
            case CborKind.Tag: Tagged(at, item); break;
            case CborKind.Array:
                List<Range> parts = Parts(item, kind);
                foreach (Range each in parts) Item(at, item[each]);
                if (parts.Count >= TextIndex.BytesMin) Characters(at, item, parts, areCodes: true);
                break;
            case CborKind.Map: Map(at, item, isObject); break;
        }
    }

    /// <summary>Returns where the items of an array stand, or keys and values of a map, or what a tag is for.</summary>
    internal static List<Range> Parts(ReadOnlySpan<byte> item, CborKind kind)
    {
        var from = new CborReader(item);
        int left = kind == CborKind.Array ? from.ReadArrayHeader() : 2 * from.ReadMapHeader();
        var parts = new List<Range>(left);
        for (; left > 0; left--)
        {
            int start = from.Position;
            from.Skip();
            parts.Add(start..from.Position);
        }
        return parts;
    }

    private void Tagged(PlaceName at, Span<byte> item)
    {
        var from = new CborReader(item);
        ulong tag = from.ReadTag();
        if (tag == GuidTag && TryItem(at, "g", item)) return;
        if (tag != ReferenceTag) Item(at, item[from.Position..]);
    }

    /// <summary>In a portable image a number with this tag is that of an object (docs/image.md I4.4).</summary>
    internal const ulong ReferenceTag = 29;

    private void Map(PlaceName at, Span<byte> item, bool isObject)
    {
        List<Range> parts = Parts(item, CborKind.Map);
        PlaceName? keys = null;
        bool isReordered = false;
        for (int i = 0; i + 1 < parts.Count; i += 2)
        {
            Span<byte> key = item[parts[i]];
            PlaceName value = at;
            if (new CborReader(key).PeekKind() != CborKind.Text) Item(keys ??= KeysOfData(at), key);
            else
            {
                value = rules.Undeclared(at, System.Text.Encoding.UTF8.GetString(ContentOf(key)));
                if (!isObject) isReordered |= Text(keys ??= KeysOfData(at), ContentOf(key));
            }
            Item(value, item[parts[i + 1]]);
        }
        if (isReordered || keys is { IsMasked: true }) Sort(item, parts);
    }

    /// <summary>Whether the keys are names or data nobody says, so that only a rule for the keys themselves masks them.</summary>
    private PlaceName KeysOfData(PlaceName at) => rules.Of(at.Owner, $"{at.Member}.{MaskRules.Keys}", null, $"{at.Label}.{MaskRules.Keys}");

    /// <summary>Brings the entries of a map into the order of their keys again, which stand for others now.</summary>
    private static void Sort(Span<byte> item, List<Range> parts)
    {
        byte[] before = item.ToArray();
        var order = new List<int>();
        for (int i = 0; i + 1 < parts.Count; i += 2) order.Add(i);
        order.Sort((a, b) => before.AsSpan()[parts[a]].SequenceCompareTo(before.AsSpan()[parts[b]]));
        int at = parts.Count > 0 ? parts[0].Start.Value : 0;
        foreach (int i in order)
        {
            ReadOnlySpan<byte> entry = before.AsSpan()[parts[i].Start.Value..parts[i + 1].End.Value];
            entry.CopyTo(item[at..]);
            at += entry.Length;
        }
    }
}
