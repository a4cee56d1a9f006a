using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes a collection as one array: the code of its comparer, then its elements in order. The delegates say how a collection of this type
/// is enumerated, made and filled. A collection with a comparer is filled last, since its elements are hashed or compared.
/// </summary>
/// <param name="make">Makes an empty collection with a comparer; null means the default one, or a collection without any.</param>
/// <param name="comparer">Gives a collection's comparer; null: collections of this type have none.</param>
/// <param name="hashed">The slots of a hashed collection; null: the order is that of the elements.</param>
/// <param name="filled">Is called when a collection has got all its elements; null: nothing is left to do then.</param>
internal sealed class SequenceShape<TCollection, T>(
    Func<TCollection, IEnumerable<T>> inOrder, Func<object?, TCollection> make, Action<TCollection, T> add,
    Func<TCollection, object?>? comparer = null, HashedItems<TCollection, T>? hashed = null, Action<TCollection>? filled = null)
    : ObjectShape
    where TCollection : class
{
    private readonly Slot<T> _slot = (Slot<T>)Slots.Of(typeof(T));

    internal override bool IsFilledLast => comparer is not null;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var collection = (TCollection)instance;
        T[] items = [.. inOrder(collection)];
        to.WriteArrayHeader(1 + items.Length);
        Comparers.Write(graph, ref to, comparer?.Invoke(collection), typeof(TCollection), hashed?.Slots.CapacityOf(collection) ?? 0,
            hashed?.Slots.FreeOf(collection));
        foreach (T item in items)
        {
            graph.AtElementOf(typeof(TCollection));
            _slot.Write(graph, ref to, item);
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
        if (capacity > 0) HashedSlots.Of<TCollection>(hashed?.Slots).SetCapacity(collection, capacity);
        if (free.Length == 0)
        {
            for (int i = 1; i < count; i++) add(collection, _slot.Read(graph, ref from));
            filled?.Invoke(collection);
            return;
        }
        var items = new List<T>();
        for (int i = 1; i < count; i++) items.Add(_slot.Read(graph, ref from));
        HashedSlots.Of<TCollection>(hashed?.Slots)
            .Fill(collection, items, free, (item, _) => add(collection, item), item => hashed!.Remove(collection, item));
    }
}

/// <summary>Says how the elements of a hashed collection lie, whose slots a restore fills and frees as the image says.</summary>
/// <param name="Remove">Removes an element, which frees its slot.</param>
internal sealed record HashedItems<TCollection, T>(HashedSlots Slots, Func<TCollection, T, bool> Remove);
