using Ambrosia.Images.Paths;

namespace Ambrosia.Images.Nodes;

/// <summary>It says what stands below a node: nothing, fields, elements by number, or entries by key.</summary>
public enum NodeKind { Value, Fields, Items, Entries }

/// <summary>
/// It is what stands in a place of an image, read where it stands when it is asked for. It is valid as long as the image's buffer, and
/// used by one thread. Two places that refer to one object have two nodes with one <see cref="Id"/>.
/// </summary>
public abstract class ImageNode
{
    /// <summary>A node without an identity: a value, or what stands in its place.</summary>
    internal const int NoId = -1;

    /// <summary>It says what stands below the node.</summary>
    public abstract NodeKind Kind { get; }

    /// <summary>The name of its type, if it is an object; empty where the place tells it.</summary>
    public virtual string TypeName => "";

    /// <summary>The number of an object to which several places may refer.</summary>
    internal virtual int Id => NoId;

    /// <summary>A value as JSON.</summary>
    public abstract string Text { get; }

    /// <summary>The text that a value is, as a key of a map has it; null: it is none.</summary>
    internal virtual string? PlainText => null;

    /// <summary>Enumerates what stands below it, in its order; below a value nothing does.</summary>
    public abstract IEnumerable<(PathStep Step, ImageNode Node)> Members();

    /// <summary>Says that it is packed numbers, and that another has the same: then nobody needs to look at each.</summary>
    internal virtual bool IsSamePacked(ImageNode other) => false;

    /// <summary>Writes it as <c>ambrosia state</c> shows it.</summary>
    internal abstract void Write(NodeJson to);
}
