using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Stands for an object whose class this app no longer has, and is its shape. That is no fault as long as nothing refers to it: its field
/// was removed with its class.
/// </summary>
internal sealed class MissingObject(string type) : ObjectShape
{
    internal string Type => type;

    internal override TypeKind Kind => TypeKind.Other;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) =>
        throw new InvalidOperationException("An object of a class that is missing was restored.");

    internal override bool IsMadeWhole(GraphReader graph) => true;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        graph.Skip(ref from);
        return this;
    }
}
