using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Reading;

/// <summary>
/// An image of the C# binding, taken apart without the app: its types, and where each object stands. One thread. The buffer is the
/// caller's, and is not changed while this is used.
/// </summary>
internal sealed class CSharpImage
{
    /// <summary>The structs within each other at most; deeper ones are in no state.</summary>
    private const int PackedDepthMax = 1000;

    private readonly LargeBuffer _bytes;
    private readonly List<ImageType> _types = [];
    private readonly List<(int Type, long At)> _objects = [];

    private CSharpImage(LargeBuffer bytes) => _bytes = bytes;

    internal int Count => _objects.Count;

    internal IReadOnlyList<ImageType> Types => _types;

    /// <exception cref="ImageException">It is an image of another format or version, or damaged.</exception>
    internal static CSharpImage Read(LargeBuffer bytes)
    {
        var image = new CSharpImage(bytes);
        var from = new ImageCursor(bytes, 0);
        var front = ImageFront.Read(ref from.Items);
        front.ExpectCSharp();
        if (front.Items != 5) throw new ImageException($"the image has {front.Items} parts instead of 5");
        from.Skip(); // the bodies of suspended methods
        image.ReadGraph(ref from);
        return image;
    }

    /// <summary>Reads a graph that stands alone: the table of types, then the objects.</summary>
    internal static CSharpImage ReadGraph(LargeBuffer bytes)
    {
        var image = new CSharpImage(bytes);
        var from = new ImageCursor(bytes, 0);
        image.ReadGraph(ref from);
        return image;
    }

    /// <summary>The image itself.</summary>
    internal LargeBuffer Buffer => _bytes;

    internal ImageType TypeAt(long row) =>
        row >= 0 && row < _types.Count ? _types[(int)row] : throw new ImageException($"type {row} of {_types.Count}");

    internal ImageType TypeOf(int id) => _types[_objects[id].Type];

    internal ImageCursor BodyOf(int id) => new(_bytes, _objects[id].At);

    /// <summary>Returns where the body of an object begins.</summary>
    internal long PositionOf(int id) => _objects[id].At;

    /// <summary>Begins to read at a place.</summary>
    internal ImageCursor At(long at) => new(_bytes, at);

    /// <summary>Returns a stretch of the image, at most to its end.</summary>
    internal ReadOnlySpan<byte> Bytes(long at, int length) => _bytes.From(at)[..length];

    internal int IdAt(ulong id) =>
        id < (ulong)_objects.Count ? (int)id : throw new ImageException($"a reference to object {id} of {_objects.Count}");

    /// <summary>Returns the bytes of a packed element, always above 0.</summary>
    internal int PackedBytes(Slot slot) =>
        PackedBytes(slot, 0) is > 0 and { } bytes ? bytes : throw new ImageException($"elements of '{slot.Text}' have no bytes");

    private int PackedBytes(Slot slot, int depth)
    {
        if (depth > PackedDepthMax) throw new ImageException("a struct that holds itself");
        if (slot.Form == SlotForm.Number && PackedNumbers.BytesOf(slot.Text) is > 0 and { } bytes) return bytes;
        if (slot.Form != SlotForm.Row) throw new ImageException($"elements of '{slot.Text}' are not packed");
        return TypeAt(slot.RowNumber).Slots.Sum(each => PackedBytes(each, depth + 1));
    }

    private void ReadGraph(ref ImageCursor from)
    {
        for (int left = from.Items.ReadArrayHeader(); left > 0; left--) _types.Add(ImageType.Read(ref from.Items));
        for (int left = from.Items.ReadArrayHeader() / 2; left > 0; left--)
        {
            from.MoveOn();
            ulong type = from.Items.ReadUInt64();
            if (type >= (ulong)_types.Count) throw new ImageException($"object {_objects.Count} is of type {type} of {_types.Count}");
            _objects.Add(((int)type, from.Position));
            from.Skip();
        }
        from.ExpectEnd();
    }
}
