using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A struct whose app says how it stands in an image.</summary>
internal sealed class SerializedSlot<T>(IStateSerializer<T> serializer) : Slot<T>
    where T : struct
{
    internal override bool StandsForItself => true;

    internal override void Write(GraphWriter graph, ref CborWriter to, T value) => SerializedItem.Write(graph, ref to, value, serializer);

    internal override T Read(GraphReader graph, ref CborReader from) => SerializedItem.Read(ref from, serializer);
}
