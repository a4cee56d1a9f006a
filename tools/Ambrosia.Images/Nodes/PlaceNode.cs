using Ambrosia.Images.Json;
using Ambrosia.Images.Paths;
using Ambrosia.Images.Reading;

namespace Ambrosia.Images.Nodes;

/// <summary>Is what stands in a place of an image of the C# binding: a number or text, a struct, or several of them.</summary>
internal sealed class PlaceNode(CSharpNodes nodes, Slot slot, long at) : ImageNode
{
    private readonly ImageType? _type = slot.Form == SlotForm.Row ? nodes.Image.TypeAt(slot.RowNumber) : null;

    /// <summary>An enum that stands in a box.</summary>
    internal PlaceNode(CSharpNodes nodes, ImageType boxed, long at) : this(nodes, boxed.Slots[0], at) => _type = boxed;

    public override NodeKind Kind => slot.Form switch
    {
        _ when _type is not null => _type.Kind == TypeKind.Enum ? NodeKind.Value : NodeKind.Fields,
        SlotForm.Several => NodeKind.Items,
        SlotForm.Enumerator => NodeKind.Fields,
        _ => NodeKind.Value,
    };

    public override string Text => PlainText is { } text ? nodes.Texts.Of(text) : Kind == NodeKind.Value ? nodes.Texts.Of(Value) : "{}";

    internal override string? PlainText =>
        Kind != NodeKind.Value ? null : _type is null ? Value.Text : _type.Names.GetValueOrDefault(Value.Integer);

    private NumberValue Value
    {
        get
        {
            ImageCursor from = nodes.Image.At(at);
            return NumberValue.Read((_type?.Slots[0] ?? slot).Text, ref from.Items);
        }
    }

    public override IEnumerable<(PathStep Step, ImageNode Node)> Members()
    {
        if (Kind == NodeKind.Value) return [];
        if (_type is not null) return nodes.Fields(_type, at);
        if (slot.Form == SlotForm.Enumerator) return new PartsNode("", Enumerator()).Members();
        (int count, long next) = nodes.BeginArray(at);
        return nodes.Items(slot.Inner!, count, next);
    }

    private IEnumerable<(string Name, ImageNode Node)> Enumerator()
    {
        (_, long next) = nodes.BeginArray(at);
        yield return ("$list", nodes.Read(new Slot(SlotForm.Reference, "@"), next, out next));
        yield return ("$index", nodes.Read(new Slot(SlotForm.Number, "i8"), next, out next));
        yield return ("$isValid", nodes.Read(new Slot(SlotForm.Number, "b"), next, out next));
        yield return ("$current", nodes.Read(slot.Inner!, next, out _));
    }

    internal override void Write(NodeJson to)
    {
        ImageCursor from = nodes.Image.At(at);
        to.Objects!.Values.Write(ref from, slot);
    }
}

/// <summary>Is an element, or a part of one, of a collection whose elements are one byte string.</summary>
internal sealed class PackedNode(CSharpNodes nodes, Slot slot, long at) : ImageNode
{
    private readonly ImageType? _type = slot.Form == SlotForm.Row ? nodes.Image.TypeAt(slot.RowNumber) : null;

    public override NodeKind Kind => _type is null or { Kind: TypeKind.Enum } ? NodeKind.Value : NodeKind.Fields;

    public override string Text => PlainText is { } text ? nodes.Texts.Of(text) : Kind == NodeKind.Value ? nodes.Texts.Of(Value) : "{}";

    internal override string? PlainText =>
        Kind != NodeKind.Value ? null : _type is null ? Value.Text : _type.Names.GetValueOrDefault(Value.Integer);

    private NumberValue Value => NumberValue.Unpack((_type?.Slots[0] ?? slot).Text, nodes.Image.Bytes(at, nodes.Image.PackedBytes(slot)));

    public override IEnumerable<(PathStep Step, ImageNode Node)> Members()
    {
        if (Kind == NodeKind.Value) yield break;
        long next = at;
        for (int i = 0; i < _type!.Slots.Length; i++)
        {
            yield return (PathStep.Name(_type.Fields[i]), new PackedNode(nodes, _type.Slots[i], next));
            next += nodes.Image.PackedBytes(_type.Slots[i]);
        }
    }

    internal override void Write(NodeJson to)
    {
        ReadOnlySpan<byte> from = nodes.Image.Bytes(at, nodes.Image.PackedBytes(slot));
        to.Objects!.Values.WritePackedElement(ref from, slot);
    }
}
