using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A reference: null, or the id of the object, which is written elsewhere in the image, once.</summary>
internal sealed class ReferenceSlot<T> : Slot<T?>
    where T : class
{
    internal override void Write(GraphWriter graph, ref CborWriter to, T? value)
    {
        if (value is null) to.WriteNull();
        else to.WriteUInt64((ulong)graph.IdOf(value));
    }

    internal override T? Read(GraphReader graph, ref CborReader from)
    {
        if (from.TryReadNull()) return null;
        object target = graph.ObjectOf(from.ReadUInt64());
        return target as T ?? throw new InvalidDataException($"The image refers to a {target.GetType()} where a {typeof(T)} belongs.");
    }
}
