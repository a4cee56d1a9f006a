using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes and reads the objects of one class in an image: the body of each as one CBOR item. They are restored in two steps, because
/// objects refer to each other. One shape serves all images, on any thread.
/// </summary>
internal abstract class ObjectShape
{
    /// <summary>True when an object is filled after all others: its content is hashed or compared, so it must be whole before.</summary>
    internal virtual bool IsFilledLast => false;

    /// <summary>True when an object is allocated after all others, because it is made of one of them.</summary>
    internal virtual bool IsMadeLate => false;

    /// <summary>The fields of the class, which are named in the image's table of types; null when it has a shape of its own.</summary>
    internal virtual FieldPlan? Plan => null;

    internal abstract void Write(GraphWriter graph, ref CborWriter to, object instance);

    /// <summary>
    /// Makes an empty object of the class; <paramref name="from"/> is at its body, for those that need its size or content.
    /// </summary>
    internal abstract object Allocate(GraphReader graph, ref CborReader from);

    /// <summary>Fills an object that was allocated. All others are allocated by then.</summary>
    internal abstract void Fill(GraphReader graph, ref CborReader from, object instance);
}
