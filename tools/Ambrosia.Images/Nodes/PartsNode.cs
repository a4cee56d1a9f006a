using Ambrosia.Images.Paths;

namespace Ambrosia.Images.Nodes;

/// <summary>Is a value that is known already.</summary>
/// <param name="text">It as JSON.</param>
internal sealed class TextNode(string text) : ImageNode
{
    internal static readonly TextNode Null = new("null");

    public override NodeKind Kind => NodeKind.Value;

    public override string Text => text;

    public override IEnumerable<(PathStep Step, ImageNode Node)> Members() => [];

    internal override void Write(NodeJson to) => to.Output.To.WriteRawValue(text, skipInputValidation: true);
}

/// <summary>Is made of parts that have names, though no type of the app says so.</summary>
/// <param name="typeName">The name of its type; empty: it has none.</param>
/// <param name="parts">They are read when they are asked for.</param>
internal sealed class PartsNode(string typeName, IEnumerable<(string Name, ImageNode Node)> parts) : ImageNode
{
    public override NodeKind Kind => NodeKind.Fields;

    public override string TypeName => typeName;

    public override string Text => "{}";

    public override IEnumerable<(PathStep Step, ImageNode Node)> Members()
    {
        foreach ((string name, ImageNode node) in parts) yield return (PathStep.Name(name), node);
    }

    internal override void Write(NodeJson to)
    {
        to.Output.To.WriteStartObject();
        foreach ((string name, ImageNode node) in parts)
        {
            to.Output.To.WritePropertyName(name);
            node.Write(to);
        }
        to.Output.To.WriteEndObject();
    }
}
