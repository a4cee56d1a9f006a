using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>Writes null or the value; a struct's value is an array, so the two never look alike.</summary>
internal sealed class NullableSlot<T> : Slot<T?>
    where T : struct
{
    private readonly Slot<T> _value = (Slot<T>)Slots.Of(typeof(T));

    internal override void Write(GraphWriter graph, ref CborWriter to, T? item)
    {
        if (item is null) to.WriteNull();
        else _value.Write(graph, ref to, item.Value);
    }

    internal override T? Read(GraphReader graph, ref CborReader from) => from.TryReadNull() ? null : _value.Read(graph, ref from);
}
