using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A collection as its elements in order: the comparer, then the elements. Which collection it is, says how to make and fill it.</summary>
internal sealed class SequenceShape<TCollection, T>(
    Func<TCollection, IEnumerable<T>> inOrder, Func<TCollection, object?> comparer, Func<object?, TCollection> make, Action<TCollection, T> add, bool isFilledLast) : ObjectShape
    where TCollection : class
{
    private readonly Slot<T> slot = (Slot<T>)Slots.Of(typeof(T));

    internal override bool IsFilledLast => isFilledLast;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var collection = (TCollection)instance;
        T[] items = [.. inOrder(collection)];
        to.WriteArrayHeader(1 + items.Length);
        Comparers.Write(graph, ref to, comparer(collection), typeof(TCollection));
        foreach (T item in items)
        {
            graph.AtElementOf(typeof(TCollection));
            slot.Write(graph, ref to, item);
        }
    }

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        from.ReadArrayHeader();
        return make(Comparers.Read<T>(ref from));
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        var collection = (TCollection)instance;
        int count = from.ReadArrayHeader();
        from.Skip();
        for (int i = 1; i < count; i++) add(collection, slot.Read(graph, ref from));
    }
}
