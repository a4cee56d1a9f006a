using Ambrosia.Images.Json;
using Ambrosia.Images.Paths;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Nodes;

/// <summary>
/// Reads nodes that are CBOR items with names of their own: all of a portable image (docs/image.md I4), and what an app's own serializer
/// has written into another.
/// </summary>
/// <param name="objects">Where the objects of a portable image stand; null: tags mean nothing here.</param>
internal sealed class CborNodes(LargeBuffer image, JsonTexts texts, IReadOnlyList<long>? objects)
{
    private const ulong ClassTag = 27, ReferenceTag = 29;

    internal JsonTexts Texts => texts;

    internal bool IsPortable => objects is not null;

    /// <summary>Returns the item at a place, and where the next one stands.</summary>
    internal ImageNode Read(long at, out long next)
    {
        ImageCursor from = At(at);
        from.Skip();
        next = from.Position;
        from = At(at);
        if (!IsPortable || from.Items.PeekKind() != CborKind.Tag) return new CborNode(this, at, at, "", ImageNode.NoId);
        switch (from.Items.ReadTag())
        {
            case ReferenceTag: return Object(from.Items.ReadUInt64());
            case ClassTag when from.Items.ReadArrayHeader() == 2:
                string type = from.Items.ReadString();
                return new CborNode(this, at, from.Position, type, ImageNode.NoId);
            default: return new CborNode(this, at, at, "", ImageNode.NoId);
        }
    }

    internal ImageCursor At(long at) => new(image, at);

    private CborNode Object(ulong id)
    {
        if (id >= (ulong)objects!.Count) throw new ImageException($"a reference to object {id} of {objects.Count}");
        var node = (CborNode)Read(objects[(int)id], out _);
        return new CborNode(this, node.At, node.Body, node.TypeName, (int)id);
    }
}

/// <summary>Is one CBOR item.</summary>
/// <param name="at">Where the item stands.</param>
/// <param name="body">Where the fields of an object of a class stand; otherwise the same.</param>
internal sealed class CborNode(CborNodes nodes, long at, long body, string typeName, int id) : ImageNode
{
    internal long At => at;

    internal long Body => body;

    public override NodeKind Kind => typeName.Length > 0 ? NodeKind.Fields : nodes.At(body).Items.PeekKind() switch
    {
        CborKind.Array => NodeKind.Items,
        CborKind.Map => NodeKind.Entries,
        _ => NodeKind.Value,
    };

    public override string TypeName => typeName;

    internal override int Id => id;

    public override string Text
    {
        get
        {
            ImageCursor from = nodes.At(at);
            return nodes.Texts.Of(ref from.Items, CborJson.Write);
        }
    }

    public override IEnumerable<(PathStep Step, ImageNode Node)> Members()
    {
        (bool isMap, int count, long next) = Begin();
        for (int i = 0; i < count; i++)
        {
            PathStep step = isMap ? StepOf(ref next) : PathStep.Index($"{i}");
            ImageNode node = nodes.Read(next, out next);
            yield return (step, node);
        }
    }

    private (bool IsMap, int Count, long Next) Begin()
    {
        ImageCursor from = nodes.At(body);
        bool isMap = from.Items.PeekKind() == CborKind.Map;
        if (!isMap && from.Items.PeekKind() != CborKind.Array) return (false, 0, body);
        int count = isMap ? from.Items.ReadMapHeader() : from.Items.ReadArrayHeader();
        return (isMap, count, from.Position);
    }

    private PathStep StepOf(ref long next)
    {
        ImageCursor from = nodes.At(next);
        bool isText = from.Items.PeekKind() == CborKind.Text;
        string text = isText ? from.Items.ReadString() : nodes.Texts.Of(ref from.Items, CborJson.Write);
        next = from.Position;
        return !isText ? PathStep.Index(text) : typeName.Length > 0 ? PathStep.Name(text) : PathStep.Key(text);
    }

    internal override void Write(NodeJson to)
    {
        ImageCursor from = nodes.At(at);
        if (nodes.IsPortable) to.Portable!.Write(ref from.Items);
        else CborJson.Write(ref from.Items, to.Output);
    }
}
