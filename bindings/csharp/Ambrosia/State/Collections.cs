using System.Runtime.InteropServices;
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
        [typeof(PriorityQueue<,>)] = nameof(OfPriorityQueue),
        [typeof(SortedSet<>)] = nameof(OfSortedSet),
        [typeof(Dictionary<,>)] = nameof(OfDictionary),
        [typeof(SortedDictionary<,>)] = nameof(OfSortedDictionary),
        [typeof(SortedList<,>)] = nameof(OfSortedList),
    };

    internal static ObjectShape OfList<T>() => new SequenceShape<List<T>, T>(
        static c => c, static _ => [], static (c, item) => c.Add(item))
    {
        Reserve = static (c, count) => c.Capacity = count,
        Items = static (c, count) =>
        {
            if (c.Count != count) CollectionsMarshal.SetCount(c, count);
            return CollectionsMarshal.AsSpan(c);
        },
        Filled = ListEnumeratorSlot<T>.ListVersion.Clear,
    };

    internal static ObjectShape OfQueue<T>() => new SequenceShape<Queue<T>, T>(
        static c => c, static _ => new(), static (c, item) => c.Enqueue(item)) { Reserve = static (c, count) => c.EnsureCapacity(count) };

    /// <summary>A stack enumerates from its top; the bottom is pushed first.</summary>
    internal static ObjectShape OfStack<T>() => new SequenceShape<Stack<T>, T>(
        static c => c.Reverse(), static _ => new(), static (c, item) => c.Push(item))
    {
        Reserve = static (c, count) => c.EnsureCapacity(count),
    };

    internal static ObjectShape OfLinkedList<T>() => new SequenceShape<LinkedList<T>, T>(
        static c => c, static _ => new(), static (c, item) => c.AddLast(item));

    internal static ObjectShape OfHashSet<T>() => new SequenceShape<HashSet<T>, T>(
        static c => c, static comparer => new((IEqualityComparer<T>?)comparer), static (c, item) => c.Add(item), static c => c.Comparer,
        new HashedItems<HashSet<T>, T>(new HashedSlots(typeof(HashSet<T>)), static (c, item) => c.Remove(item)))
    {
        Keys = new KeyedItems<HashSet<T>>(KeyChecks.OfSet, static c => c.Clear()),
    };

    /// <summary>
    /// The elements stand in the order of the heap: what is enqueued in that order stays where it is, so that of equal priorities the same
    /// one is first.
    /// </summary>
    internal static ObjectShape OfPriorityQueue<TElement, TPriority>() =>
        new SequenceShape<PriorityQueue<TElement, TPriority>, (TElement Element, TPriority Priority)>(
            static c => c.UnorderedItems, static comparer => new((IComparer<TPriority>?)comparer),
            static (c, item) => c.Enqueue(item.Element, item.Priority), static c => c.Comparer)
        {
            Count = static c => c.Count,
            Keys = new KeyedItems<PriorityQueue<TElement, TPriority>>(KeyChecks.OfHeap, static c => c.Clear()),
        };

    internal static ObjectShape OfSortedSet<T>() => new SequenceShape<SortedSet<T>, T>(
        static c => c, static comparer => new((IComparer<T>?)comparer), static (c, item) => c.Add(item), static c => c.Comparer)
    {
        Keys = new KeyedItems<SortedSet<T>>(static c => KeyChecks.OfSorted(c, c.Comparer), static c => c.Clear()),
    };

    internal static ObjectShape OfDictionary<TKey, TValue>()
        where TKey : notnull => new MapShape<Dictionary<TKey, TValue>, TKey, TValue>(
        static c => c.Comparer, static comparer => new((IEqualityComparer<TKey>?)comparer),
        new HashedSlots(typeof(Dictionary<TKey, TValue>)), KeyChecks.OfMap);

    internal static ObjectShape OfSortedDictionary<TKey, TValue>()
        where TKey : notnull => new MapShape<SortedDictionary<TKey, TValue>, TKey, TValue>(
        static c => c.Comparer, static comparer => new((IComparer<TKey>?)comparer), null,
        static c => KeyChecks.OfSorted(c.Keys, c.Comparer));

    internal static ObjectShape OfSortedList<TKey, TValue>()
        where TKey : notnull => new MapShape<SortedList<TKey, TValue>, TKey, TValue>(
        static c => c.Comparer, static comparer => new((IComparer<TKey>?)comparer), null,
        static c => KeyChecks.OfSorted(c.Keys, c.Comparer));
}
