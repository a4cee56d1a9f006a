using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>Writes an array of one dimension as an array of its elements, and one of bytes as a byte string.</summary>
internal sealed class VectorShape<T> : ObjectShape
{
    private readonly Slot<T> _slot = (Slot<T>)Slots.Of(typeof(T));

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        if (instance is byte[] bytes)
        {
            to.WriteBytes(bytes);
            return;
        }
        var items = (T[])instance;
        to.WriteArrayHeader(items.Length);
        foreach (T item in items)
        {
            graph.AtElementOf(typeof(T[]));
            _slot.Write(graph, ref to, item);
        }
    }

    internal override object Allocate(GraphReader graph, ref CborReader from) =>
        typeof(T) == typeof(byte) ? from.ReadBytes().ToArray() : new T[from.ReadArrayHeader()];

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        if (instance is byte[]) return;
        var items = (T[])instance;
        from.ReadArrayHeader();
        for (int i = 0; i < items.Length; i++) items[i] = _slot.Read(graph, ref from);
    }
}
