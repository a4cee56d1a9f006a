using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Makes the shapes of the framework's collections that can be state, each with its order. <see cref="ObjectShapes"/> calls the methods by
/// reflection, since the type of the elements is known at run time only.
/// </summary>
internal static class Collections
{
    /// <summary>The names of the methods below by the collection whose shape they make.</summary>
    internal static readonly Dictionary<Type, string> MakerOf = new()
    {
        [typeof(List<>)] = nameof(OfList),
        [typeof(Queue<>)] = nameof(OfQueue),
        [typeof(Stack<>)] = nameof(OfStack),
        [typeof(LinkedList<>)] = nameof(OfLinkedList),
        [typeof(HashSet<>)] = nameof(OfHashSet),
        [typeof(SortedSet<>)] = nameof(OfSortedSet),
        [typeof(Dictionary<,>)] = nameof(OfDictionary),
        [typeof(SortedDictionary<,>)] = nameof(OfSortedDictionary),
        [typeof(SortedList<,>)] = nameof(OfSortedList),
    };

    internal static ObjectShape OfList<T>() => new SequenceShape<List<T>, T>(
        static c => c, static _ => [], static (c, item) => c.Add(item), filled: ListEnumeratorSlot<T>.ListVersion.Clear);

    internal static ObjectShape OfQueue<T>() => new SequenceShape<Queue<T>, T>(
        static c => c, static _ => new(), static (c, item) => c.Enqueue(item));

    /// <summary>A stack enumerates from its top; the bottom is pushed first.</summary>
    internal static ObjectShape OfStack<T>() => new SequenceShape<Stack<T>, T>(
        static c => c.Reverse(), static _ => new(), static (c, item) => c.Push(item));

    internal static ObjectShape OfLinkedList<T>() => new SequenceShape<LinkedList<T>, T>(
        static c => c, static _ => new(), static (c, item) => c.AddLast(item));

    internal static ObjectShape OfHashSet<T>() => new SequenceShape<HashSet<T>, T>(
        static c => c, static comparer => new((IEqualityComparer<T>?)comparer), static (c, item) => c.Add(item), static c => c.Comparer,
        new HashedItems<HashSet<T>, T>(new HashedSlots(typeof(HashSet<T>)), static (c, item) => c.Remove(item)));

    internal static ObjectShape OfSortedSet<T>() => new SequenceShape<SortedSet<T>, T>(
        static c => c, static comparer => new((IComparer<T>?)comparer), static (c, item) => c.Add(item), static c => c.Comparer);

    internal static ObjectShape OfDictionary<TKey, TValue>()
        where TKey : notnull => new MapShape<Dictionary<TKey, TValue>, TKey, TValue>(
        static c => c.Comparer, static comparer => new((IEqualityComparer<TKey>?)comparer),
        new HashedSlots(typeof(Dictionary<TKey, TValue>)));

    internal static ObjectShape OfSortedDictionary<TKey, TValue>()
        where TKey : notnull => new MapShape<SortedDictionary<TKey, TValue>, TKey, TValue>(
        static c => c.Comparer, static comparer => new((IComparer<TKey>?)comparer), null);

    internal static ObjectShape OfSortedList<TKey, TValue>()
        where TKey : notnull => new MapShape<SortedList<TKey, TValue>, TKey, TValue>(
        static c => c.Comparer, static comparer => new((IComparer<TKey>?)comparer), null);
}

/// <summary>
/// Writes a dictionary as one array: the comparer, then keys and values in enumeration order. It is filled last, as its keys are hashed or
/// compared.
/// </summary>
/// <param name="slots">The slots of a hashed dictionary; null: the order follows from the keys.</param>
internal sealed class MapShape<TMap, TKey, TValue>(Func<TMap, object?> comparer, Func<object?, TMap> make, HashedSlots? slots) : ObjectShape
    where TMap : class, IDictionary<TKey, TValue>
    where TKey : notnull
{
    private readonly Slot<TKey> _keys = (Slot<TKey>)Slots.Of(typeof(TKey));
    private readonly Slot<TValue> _values = (Slot<TValue>)Slots.Of(typeof(TValue));

    internal override TypeKind Kind => TypeKind.Map;

    internal override string[] Members(GraphWriter graph) => [_keys.Describe(graph), _values.Describe(graph)];

    internal override bool IsFilledLast => true;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var map = (TMap)instance;
        to.WriteArrayHeader(1 + 2 * map.Count);
        Comparers.Write(graph, ref to, comparer(map), typeof(TMap), slots?.CapacityOf(map) ?? 0, slots?.FreeOf(map));
        foreach ((TKey key, TValue value) in map)
        {
            graph.AtElementOf(typeof(TMap));
            _keys.Write(graph, ref to, key);
            graph.AtElementOf(typeof(TMap));
            _values.Write(graph, ref to, value);
        }
    }

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        from.ReadArrayHeader();
        return make(Comparers.Read<TKey>(ref from, out _, out _));
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        var map = (TMap)instance;
        int items = from.ReadArrayHeader();
        Comparers.Read<TKey>(ref from, out int capacity, out int[] free);
        if (capacity > 0) HashedSlots.Of<TMap>(slots).SetCapacity(map, capacity);
        var pairs = new List<(TKey Key, TValue Value)>();
        for (int i = 1; i + 1 < items; i += 2)
        {
            graph.MoveOn(ref from);
            TKey key = _keys.Read(graph, ref from) ?? throw new InvalidDataException($"The image holds a {typeof(TMap)} with a null key.");
            TValue value = _values.Read(graph, ref from);
            if (free.Length == 0) map.Add(key, value);
            else pairs.Add((key, value));
        }
        if (free.Length > 0)
            HashedSlots.Of<TMap>(slots)
                .Fill<TKey>(map, [.. pairs.Select(static p => p.Key)], free,
                    (key, item) => map.Add(key, item < 0 ? default! : pairs[item].Value), map.Remove);
    }
}

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

    internal override TypeKind Kind => TypeKind.Sequence;

    internal override string[] Members(GraphWriter graph) => [_slot.Describe(graph)];

    internal override bool IsFilledLast => comparer is not null;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var collection = (TCollection)instance;
        to.WriteArrayHeader(1 + ((IReadOnlyCollection<T>)collection).Count);
        Comparers.Write(graph, ref to, comparer?.Invoke(collection), typeof(TCollection), hashed?.Slots.CapacityOf(collection) ?? 0,
            hashed?.Slots.FreeOf(collection));
        foreach (T item in inOrder(collection))
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
            for (int i = 1; i < count; i++) add(collection, ReadItem(graph, ref from));
            filled?.Invoke(collection);
            return;
        }
        var items = new List<T>();
        for (int i = 1; i < count; i++) items.Add(ReadItem(graph, ref from));
        HashedSlots.Of<TCollection>(hashed?.Slots)
            .Fill(collection, items, free, (item, _) => add(collection, item), item => hashed!.Remove(collection, item));
    }

    private T ReadItem(GraphReader graph, ref CborReader from)
    {
        graph.MoveOn(ref from);
        return _slot.Read(graph, ref from);
    }
}

/// <summary>Says how the elements of a hashed collection lie, whose slots a restore fills and frees as the image says.</summary>
/// <param name="Remove">Removes an element, which frees its slot.</param>
internal sealed record HashedItems<TCollection, T>(HashedSlots Slots, Func<TCollection, T, bool> Remove);
