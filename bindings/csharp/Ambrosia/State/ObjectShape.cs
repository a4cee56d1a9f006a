using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// How objects of one class stand in an image: its body as one CBOR item. Restored in two steps, because objects refer to each other.
/// </summary>
internal abstract class ObjectShape
{
    /// <summary>Filled after all others: its content is hashed or compared, so it must be whole before.</summary>
    internal virtual bool IsFilledLast => false;

    /// <summary>Allocated after all others: it is made of one of them.</summary>
    internal virtual bool IsMadeLate => false;

    /// <summary>Fields of the class are named in the image's table of types.</summary>
    internal virtual FieldPlan? Plan => null;

    internal abstract void Write(GraphWriter graph, ref CborWriter to, object instance);

    /// <summary>An empty object of the class; <paramref name="from"/> is at its body, for those that need its size or content.</summary>
    internal abstract object Allocate(GraphReader graph, ref CborReader from);

    internal abstract void Fill(GraphReader graph, ref CborReader from, object instance);
}
