using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// A collection as its elements in order: the comparer, then the elements. Which collection it is, says how to make and fill it.
/// </summary>
/// <param name="slots">Of a hashed one, with its <paramref name="remove"/>; null: the order is that of the elements.</param>
internal sealed class SequenceShape<TCollection, T>(
    Func<TCollection, IEnumerable<T>> inOrder, Func<TCollection, object?> comparer, Func<object?, TCollection> make,
    Action<TCollection, T> add, bool isFilledLast, HashedSlots? slots = null, Func<TCollection, T, bool>? remove = null,
    Action<TCollection>? filled = null) : ObjectShape
    where TCollection : class
{
    private readonly Slot<T> slot = (Slot<T>)Slots.Of(typeof(T));

    internal override bool IsFilledLast => isFilledLast;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var collection = (TCollection)instance;
        T[] items = [.. inOrder(collection)];
        to.WriteArrayHeader(1 + items.Length);
        Comparers.Write(graph, ref to, comparer(collection), typeof(TCollection), slots?.CapacityOf(collection) ?? 0,
            slots?.FreeOf(collection));
        foreach (T item in items)
        {
            graph.AtElementOf(typeof(TCollection));
            slot.Write(graph, ref to, item);
        }
    }

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        from.ReadArrayHeader();
        return make(Comparers.Read<T>(ref from, out _, out _));
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        var collection = (TCollection)instance;
        int count = from.ReadArrayHeader();
        Comparers.Read<T>(ref from, out int capacity, out int[] free);
        if (capacity > 0) HashedSlots.Of<TCollection>(slots).SetCapacity(collection, capacity);
        if (free.Length == 0)
        {
            for (int i = 1; i < count; i++) add(collection, slot.Read(graph, ref from));
            filled?.Invoke(collection);
            return;
        }
        var items = new List<T>();
        for (int i = 1; i < count; i++) items.Add(slot.Read(graph, ref from));
        HashedSlots.Of<TCollection>(slots)
            .Fill(collection, items, free, (item, _) => add(collection, item), item => remove!(collection, item));
    }
}
