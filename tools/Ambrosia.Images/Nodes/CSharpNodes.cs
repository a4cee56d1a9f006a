using System.Globalization;
using Ambrosia.Images.Json;
using Ambrosia.Images.Paths;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Nodes;

/// <summary>Reads the nodes of an image of the C# binding: each place by its slot, each object by the row of its type.</summary>
internal sealed class CSharpNodes(CSharpImage image, JsonTexts texts)
{
    private readonly CborNodes _opaque = new(image.Buffer, texts, null);

    /// <summary>The text of a key is being made.</summary>
    private bool _isInKey;

    internal CSharpImage Image => image;

    internal JsonTexts Texts => texts;

    internal ImageNode Object(int id) => new ObjectNode(this, id);

    /// <summary>Returns the item at a place that says nothing of its slot.</summary>
    internal ImageNode Opaque(long at) => _opaque.Read(at, out _);

    /// <summary>Returns what stands in a place, and where the next place begins.</summary>
    internal ImageNode Read(Slot slot, long at, out long next)
    {
        ImageCursor from = image.At(at);
        bool isNull = slot.Form is SlotForm.Reference or SlotForm.Nullable && from.Items.TryReadNull();
        if (isNull) next = from.Position;
        else if (slot.Form == SlotForm.Nullable) return Read(slot.Inner!, at, out next);
        else if (slot.Form == SlotForm.Reference)
        {
            int id = image.IdAt(from.Items.ReadUInt64());
            next = from.Position;
            return Object(id);
        }
        else
        {
            from.Skip();
            next = from.Position;
        }
        return isNull ? TextNode.Null : slot.Form is SlotForm.Opaque or SlotForm.Never ? Opaque(at) : new PlaceNode(this, slot, at);
    }

    /// <summary>Returns a local of a suspended method, which is null while it is not in use.</summary>
    private ImageNode ReadLocal(Slot slot, long at, out long next)
    {
        ImageCursor from = image.At(at);
        if (!from.Items.TryReadNull()) return Read(slot, at, out next);
        next = from.Position;
        return TextNode.Null;
    }

    /// <summary>Enumerates the fields that a type names.</summary>
    internal IEnumerable<(PathStep Step, ImageNode Node)> Fields(ImageType type, long at)
    {
        (int count, long next) = BeginArray(at);
        if (count != type.Slots.Length) throw new ImageException($"{type.Name} of {count} fields where {type.Slots.Length} are named");
        for (int i = 0; i < count; i++)
        {
            ImageNode node = type.Kind == TypeKind.SuspendedMethod ? ReadLocal(type.Slots[i], next, out next)
                : Read(type.Slots[i], next, out next);
            yield return (PathStep.Name(type.Fields[i]), node);
        }
    }

    /// <summary>Enumerates so many places in a row.</summary>
    internal IEnumerable<(PathStep Step, ImageNode Node)> Items(Slot slot, int count, long next)
    {
        for (int i = 0; i < count; i++)
        {
            ImageNode node = Read(slot, next, out next);
            yield return (IndexOf(i), node);
        }
    }

    /// <summary>Enumerates elements that are one byte string.</summary>
    internal IEnumerable<(PathStep Step, ImageNode Node)> Packed(Slot slot, long at)
    {
        (long next, long end, int bytes) = BeginPacked(at, image.PackedBytes(slot));
        for (long i = 0; next < end; next += bytes, i++) yield return (IndexOf(i), new PackedNode(this, slot, next));
    }

    internal IEnumerable<(PathStep Step, ImageNode Node)> PackedMap(Slot keys, Slot values, long at)
    {
        int keyBytes = image.PackedBytes(keys);
        (long next, long end, int bytes) = BeginPacked(at, keyBytes + image.PackedBytes(values));
        for (; next < end; next += bytes)
            yield return (StepOf(new PackedNode(this, keys, next)), new PackedNode(this, values, next + keyBytes));
    }

    /// <summary>Enumerates the entries of a map; so many items are its keys and values.</summary>
    internal IEnumerable<(PathStep Step, ImageNode Node)> Entries(Slot keys, Slot values, int items, long next)
    {
        for (int i = 0; i + 1 < items; i += 2)
        {
            PathStep step = StepOf(Read(keys, next, out next));
            ImageNode node = Read(values, next, out next);
            yield return (step, node);
        }
    }

    /// <summary>Gives the values of a set the names by which they are found: themselves.</summary>
    internal IEnumerable<(PathStep Step, ImageNode Node)> ByThemselves(IEnumerable<(PathStep Step, ImageNode Node)> items) =>
        items.Select(item => (StepOf(item.Node), item.Node));

    /// <summary>Returns where an array's items begin.</summary>
    internal (int Count, long Next) BeginArray(long at)
    {
        ImageCursor from = image.At(at);
        int count = from.Items.ReadArrayHeader();
        return (count, from.Position);
    }

    internal static PathStep IndexOf(long index) => PathStep.Index(index.ToString(CultureInfo.InvariantCulture));

    /// <summary>
    /// Returns how a key is written in a path: a text in quotes, a number without, and anything more as its JSON. A map that such a key
    /// leads to may have the same key again, so keys in keys are not spelled out.
    /// </summary>
    private PathStep StepOf(ImageNode key)
    {
        if (key.PlainText is { } text) return PathStep.Key(text);
        if (key.Kind == NodeKind.Value) return PathStep.Index(key.Text);
        if (_isInKey) return PathStep.Index("{}");
        _isInKey = true;
        try
        {
            return PathStep.Index(BriefValue.OfKey(key));
        }
        finally
        {
            _isInKey = false;
        }
    }

    private (long Next, long End, int Bytes) BeginPacked(long at, int bytes)
    {
        ImageCursor from = image.At(at);
        long length = from.ReadBytesLength();
        if (length % bytes != 0) throw new ImageException($"{length} bytes are no elements of {bytes}");
        return (from.Position, from.Position + length, bytes);
    }
}
