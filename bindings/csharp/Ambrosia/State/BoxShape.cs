using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes a value in a place of type object, which is a box with an identity of its own. Texts and numbers are read at once, structs are
/// filled later.
/// </summary>
internal sealed class BoxShape<T> : ObjectShape
{
    private readonly Slot<T> _slot = (Slot<T>)Slots.Of(typeof(T));

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) => _slot.Write(graph, ref to, (T)instance);

    internal override object Allocate(GraphReader graph, ref CborReader from) =>
        _slot.StandsForItself ? _slot.Read(graph, ref from)! : RuntimeHelpers.GetUninitializedObject(typeof(T));

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        if (!_slot.StandsForItself) graph.PlanOf(typeof(T)).Read(graph, ref from, instance);
    }
}
