using Ambrosia.Images.Json;
using Ambrosia.Images.Paths;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Nodes;

/// <summary>
/// An image that is looked at by paths, without the app and without being turned into anything: what is asked for is read where it stands.
/// One thread. The buffer is the caller's, and is not changed while this is used.
/// </summary>
public sealed class ImageTree
{
    /// <summary>So many names are told of where one is not there.</summary>
    private const int NamesMax = 10_000;

    private readonly LargeBuffer _buffer;
    private readonly JsonTexts _texts = new();
    private readonly CSharpImage? _image;
    private readonly List<long> _objects = [];

    private ImageTree(LargeBuffer buffer, CSharpImage? image) => (_buffer, _image) = (buffer, image);

    /// <summary>It is the immortal itself.</summary>
    public ImageNode State { get; private set; } = TextNode.Null;

    /// <summary>It is what the session needs to go on: timers, tasks, outstanding calls, the time.</summary>
    public ImageNode Session { get; private set; } = TextNode.Null;

    /// <summary>It is what waits in a portable image; in others it is in the session.</summary>
    public ImageNode Flows { get; private set; } = TextNode.Null;

    /// <exception cref="ImageException">The image is damaged, or of a format that is not known.</exception>
    public static ImageTree Read(LargeBuffer image) => Guarded(() =>
    {
        var from = new CborReader(image.From(0));
        var front = ImageFront.Read(ref from);
        if (!front.IsPortable) return Of(image, CSharpImage.Read(image));
        if (front.Items != 5) throw new ImageException("the image is damaged: other parts (I4.1)");
        var tree = new ImageTree(image, null);
        tree.ReadPortable(from.Position);
        return tree;
    });

    /// <summary>Reads a graph that stands alone, of which object 0 is the root.</summary>
    internal static ImageTree ReadGraph(LargeBuffer graph) => Of(graph, CSharpImage.ReadGraph(graph));

    /// <summary>Returns the classes and structs of a C# app, and what their fields hold; null: it is of another binding.</summary>
    /// <exception cref="ImageException">The image is damaged.</exception>
    public IReadOnlyList<StoredType>? Types() =>
        _image is null ? null : Guarded(() => new StoredTypes(new CSharpNodes(_image, _texts)).Find());

    /// <summary>Returns the enums of which values may be in the image, with their members.</summary>
    public IReadOnlyList<StoredEnum> Enums() => _image is null ? []
        : [.. _image.Types.Where(static type => type.Kind == TypeKind.Enum).Select(static type => new StoredEnum(type.Name, type.Members))];

    /// <summary>Returns what stands at a path.</summary>
    /// <exception cref="ImagePathException">Nothing does.</exception>
    /// <exception cref="ImageException">The image is damaged.</exception>
    public ImageNode Find(ImagePath path) => Guarded(() =>
    {
        ImageNode node = State;
        ImagePath at = ImagePath.Root;
        foreach (PathStep step in path.Steps())
        {
            node = at == ImagePath.Root && PartOf(step) is { } part ? part : Member(node, at, step);
            at = at.Then(step);
        }
        return node;
    });

    /// <summary>Writes the members of a JSON object that shows what stands at a path, in the form of <c>ambrosia state</c>.</summary>
    /// <param name="origin">Where the image is from; null: nothing is said of it.</param>
    /// <param name="take">Takes the UTF-8 in pieces.</param>
    /// <exception cref="ImagePathException">Nothing stands there.</exception>
    /// <exception cref="ImageException">The image is damaged.</exception>
    public void WriteJson(ImagePath path, ImageOrigin? origin, Action<ReadOnlySpan<byte>> take, bool isIndented)
    {
        const string Value = "value";
        ImageNode node = Find(path);
        Guarded(() =>
        {
            using var to = new JsonOutput(take, isIndented);
            to.To.WriteStartObject();
            origin?.Write(to);
            to.To.WriteString("path", path.ToString());
            if (_image is null)
            {
                var portable = new PortableJson(to);
                portable.WriteOne(Value, () => node.Write(new NodeJson(to, null, portable)), _buffer, _objects);
            }
            else
            {
                var objects = new ObjectJson(_image, to);
                if (node is ObjectNode named) objects.WriteOne(Value, named.Number, (State as ObjectNode)?.Number);
                else objects.WriteOne(Value, () => node.Write(new NodeJson(to, objects, null)), (State as ObjectNode)?.Number);
            }
            to.To.WriteEndObject();
            to.Flush();
            return 0;
        });
    }

    private static ImageTree Of(LargeBuffer buffer, CSharpImage image)
    {
        var tree = new ImageTree(buffer, image);
        if (image.Count == 0) throw new ImageException("the image holds no object");
        var nodes = new CSharpNodes(image, tree._texts);
        ImageNode root = nodes.Object(0);
        if (root.TypeName != ObjectJson.RootClass) tree.State = root;
        else
        {
            tree.State = root.Members().FirstOrDefault(static each => each.Step.Text == ObjectJson.ImmortalField).Node ?? TextNode.Null;
            tree.Session = new PartsNode("", root.Members().Where(static each => each.Step.Text != ObjectJson.ImmortalField)
                .Select(static each => (each.Step.Text, each.Node)));
        }
        return tree;
    }

    private void ReadPortable(long at)
    {
        var nodes = new CborNodes(_buffer, _texts, _objects);
        ImageCursor from = nodes.At(at);
        long session = at;
        from.Skip();
        if (from.Items.ReadArrayHeader() != 2)
            throw new ImageException("the image is damaged: a state that is not [root, objects] (I4.3)");
        long root = from.Position;
        from.Skip();
        for (int left = from.Items.ReadArrayHeader(); left > 0; left--)
        {
            from.MoveOn();
            _objects.Add(from.Position);
            from.Skip();
        }
        State = nodes.Read(root, out _);
        Session = new PartsNode("", nodes.Read(session, out _).Members().Select(static each => (SessionPart(each.Step.Text), each.Node)));
        Flows = nodes.Read(from.Position, out _);
    }

    private static string SessionPart(string key) =>
        int.TryParse(key, out int i) && i < PortableJson.Session.Length ? PortableJson.Session[i] : key;

    private ImageNode? PartOf(PathStep step) => step.Kind != PathStepKind.Name ? null : step.Text switch
    {
        ImagePath.SessionWord => Session,
        ImagePath.FlowsWord => Flows,
        _ => null,
    };

    private static ImageNode Member(ImageNode node, ImagePath at, PathStep step)
    {
        var names = new List<string>();
        foreach ((PathStep each, ImageNode member) in node.Members())
        {
            if (each.Text == step.Text) return member;
            if (names.Count < NamesMax) names.Add(each.ToString().TrimStart('.'));
        }
        string what = node.Kind == NodeKind.Value
            ? $"{at} is {BriefValue.Of(node).Text}, which has nothing below it" : $"{at} has no '{step.ToString().TrimStart('.')}'";
        throw new ImagePathException(what, step.ToString().TrimStart('.'), names);
    }

    internal static T Guarded<T>(Func<T> read)
    {
        try
        {
            return read();
        }
        catch (Exception e) when (ImageException.Of(e) is { } damaged)
        {
            throw damaged;
        }
    }
}
