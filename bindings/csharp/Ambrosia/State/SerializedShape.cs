using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>Writes the objects of a class as the app's serializer says. Each is still one object, however many refer to it.</summary>
internal sealed class SerializedShape<T>(IStateSerializer<T> serializer) : ObjectShape
    where T : class
{
    internal override void Write(GraphWriter graph, ref CborWriter to, object instance) =>
        SerializedItem.Write(graph, ref to, (T)instance, serializer);

    internal override object Allocate(GraphReader graph, ref CborReader from) => SerializedItem.Read(ref from, serializer);

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
    }
}
