using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A reference: null, or the id of the object, which is written elsewhere in the image, once.</summary>
internal sealed class ReferenceSlot<T> : Slot<T?>
    where T : class
{
    internal override void Write(GraphWriter graph, ref CborWriter to, T? value) => graph.WriteReference(ref to, value);

    internal override T? Read(GraphReader graph, ref CborReader from) => graph.ReadReference<T>(ref from);
}
