using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>Writes a struct as the app's serializer says.</summary>
internal sealed class SerializedSlot<T>(IStateSerializer<T> serializer) : Slot<T>
    where T : struct
{
    internal override bool StandsForItself => true;

    internal override void Write(GraphWriter graph, ref CborWriter to, T value) => SerializedItem.Write(graph, ref to, value, serializer);

    internal override T Read(GraphReader graph, ref CborReader from) => SerializedItem.Read(ref from, serializer);
}
