using Ambrosia.Images.Paths;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Nodes;

/// <summary>Is an object of an image of the C# binding, by its number.</summary>
internal sealed class ObjectNode(CSharpNodes nodes, int number) : ImageNode
{
    private readonly ImageType _type = nodes.Image.TypeOf(number);

    /// <summary>It is the number of the object in the image.</summary>
    internal int Number => number;

    private long At => nodes.Image.PositionOf(number);

    public override NodeKind Kind => _type.Kind switch
    {
        TypeKind.Class or TypeKind.Struct or TypeKind.SuspendedMethod => NodeKind.Fields,
        TypeKind.Array => NodeKind.Items,
        TypeKind.Sequence => IsSet ? NodeKind.Entries : NodeKind.Items,
        TypeKind.Map => NodeKind.Entries,
        _ => Inner.Kind,
    };

    public override string TypeName => _type.Kind == TypeKind.Box && SlotAt(0).Text == "s" ? "" : _type.Name;

    /// <summary>What is one object wherever it is used has no identity: texts, empty arrays, proxies, functions without a target.</summary>
    internal override int Id => _type.Kind switch
    {
        TypeKind.Proxy => NoId,
        TypeKind.Box when SlotAt(0).Text == "s" => NoId,
        TypeKind.Array when IsEmptyArray => NoId,
        TypeKind.Delegate when DelegateParts().Last().Node == TextNode.Null => NoId,
        _ => number,
    };

    public override string Text => Kind == NodeKind.Value ? Inner.Text : "{}";

    internal override string? PlainText => Kind == NodeKind.Value ? Inner.PlainText : null;

    /// <summary>A set has no numbers by which its elements are found.</summary>
    private bool IsSet => _type.Name.Split('<')[0].EndsWith("Set", StringComparison.Ordinal);

    private bool IsEmptyArray =>
        SlotAt(0).Form == SlotForm.Packed ? nodes.Image.At(At).ReadBytesLength() == 0 : nodes.BeginArray(At).Count == 0;

    private ImageNode Inner => _type.Kind switch
    {
        TypeKind.Box => nodes.Read(SlotAt(0), At, out _),
        TypeKind.Enum => new PlaceNode(nodes, _type, At),
        TypeKind.Grid => new PartsNode(_type.Name, GridParts()),
        TypeKind.Delegate => new PartsNode(_type.Name, DelegateParts()),
        TypeKind.Proxy => new PartsNode(_type.Name, ProxyParts()),
        _ => nodes.Opaque(At),
    };

    public override IEnumerable<(PathStep Step, ImageNode Node)> Members() => _type.Kind switch
    {
        TypeKind.Class or TypeKind.Struct or TypeKind.SuspendedMethod => nodes.Fields(_type, At),
        TypeKind.Array => ArrayItems(),
        TypeKind.Sequence => IsSet ? nodes.ByThemselves(SequenceItems()) : SequenceItems(),
        TypeKind.Map => MapEntries(),
        _ => Inner.Members(),
    };

    internal override bool IsSamePacked(ImageNode other)
    {
        if (other is not ObjectNode { _type: { } type } that || type.Kind != _type.Kind || _type.Slots.Length == 0
            || !_type.Slots.Zip(type.Slots).All(static pair => pair.First == pair.Second && pair.First is
                { Form: SlotForm.Packed, Inner.Form: SlotForm.Number }))
            return false;
        ReadOnlySpan<byte> mine = Content(), its = that.Content();
        return mine.SequenceEqual(its);
    }

    /// <summary>Returns the byte string of packed elements, or as much of it as a span holds.</summary>
    private ReadOnlySpan<byte> Content()
    {
        long at = _type.Kind == TypeKind.Array ? At : BehindOrder().Next;
        long length = nodes.Image.At(at).ReadBytesLength();
        ImageCursor from = nodes.Image.At(at);
        from.ReadBytesLength();
        return nodes.Image.Bytes(from.Position, (int)Math.Min(length, int.MaxValue));
    }

    private IEnumerable<(PathStep Step, ImageNode Node)> ArrayItems()
    {
        if (SlotAt(0).Form == SlotForm.Packed) return nodes.Packed(SlotAt(0).Inner!, At);
        (int count, long next) = nodes.BeginArray(At);
        return nodes.Items(SlotAt(0), count, next);
    }

    private IEnumerable<(PathStep Step, ImageNode Node)> SequenceItems()
    {
        (int items, long next) = BehindOrder();
        return SlotAt(0).Form == SlotForm.Packed ? nodes.Packed(SlotAt(0).Inner!, next) : nodes.Items(SlotAt(0), items, next);
    }

    private IEnumerable<(PathStep Step, ImageNode Node)> MapEntries()
    {
        (int items, long next) = BehindOrder();
        Slot keys = SlotAt(0), values = SlotAt(1);
        return keys.Form == SlotForm.Packed ? nodes.PackedMap(keys.Inner!, values.Inner!, next) : nodes.Entries(keys, values, items, next);
    }

    /// <summary>Passes what a collection's comparer is and where its elements lie.</summary>
    private (int Items, long Next) BehindOrder()
    {
        ImageCursor from = nodes.Image.At(At);
        int items = from.Items.ReadArrayHeader();
        from.Skip();
        return (items - 1, from.Position);
    }

    private IEnumerable<(string Name, ImageNode Node)> GridParts()
    {
        (_, long lengths) = nodes.BeginArray(At);
        yield return ("$lengths", nodes.Opaque(lengths));
        yield return ("$items", new PlaceNode(nodes, new Slot(SlotForm.Several, "*", Inner: SlotAt(0)), Behind(lengths)));
    }

    private IEnumerable<(string Name, ImageNode Node)> DelegateParts()
    {
        (_, long function) = nodes.BeginArray(At);
        yield return ("$method", new TextNode(MethodAt(function)));
        yield return ("$target", nodes.Read(new Slot(SlotForm.Reference, "@"), Behind(Behind(Behind(function))), out _));
    }

    private string MethodAt(long at)
    {
        ImageCursor from = nodes.Image.At(at);
        if (from.Items.PeekKind() == CborKind.Text) return nodes.Texts.Of(from.Items.ReadString());
        from.Items.ReadArrayHeader();
        string declaring = nodes.Image.TypeAt((long)from.Items.ReadUInt64()).Name, name = from.Items.ReadString();
        return nodes.Texts.Of($"{declaring}.{name}({from.Items.ReadString()})");
    }

    private IEnumerable<(string Name, ImageNode Node)> ProxyParts()
    {
        (_, long shard) = nodes.BeginArray(At);
        if (nodes.Opaque(shard) is { Text: not "0" } other) yield return ("$shard", other);
        yield return ("$instance", nodes.Opaque(Behind(shard)));
    }

    private long Behind(long at)
    {
        ImageCursor from = nodes.Image.At(at);
        from.Skip();
        return from.Position;
    }

    internal override void Write(NodeJson to) => throw new InvalidOperationException("an object is written by its number");

    private Slot SlotAt(int index) =>
        index < _type.Slots.Length ? _type.Slots[index] : throw new ImageException($"{_type.Name} does not say what it is made of");
}
