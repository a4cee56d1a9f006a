using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.State;

/// <summary>
/// Looks the keys of collections up in their own collections. A key whose hash or order has changed since it was put in is not found, and
/// of keys that have become equal one is found for the other. Each method returns what is wrong, and null if nothing is. Any thread may
/// call it, while nobody changes the collection.
/// </summary>
internal static class KeyChecks
{
    private const string Changed = ", a key of which has changed since it was put in, so that it is not found any more,",
        Equal = ", two keys of which have become equal,", Unordered = ", the order of whose keys has changed since they were put in,";

    /// <exception cref="InvalidDataException">Elements are missing.</exception>
    internal static void Expect(int count, int filled)
    {
        if (count != filled) throw new InvalidDataException($"of {count} elements {filled} are left, since the others are equal to some of these");
    }

    /// <summary>Entries lie in the order of enumeration, so that what is found lies behind all that was found before.</summary>
    internal static string? OfMap<TKey, TValue>(Dictionary<TKey, TValue> map)
        where TKey : notnull
    {
        ref TValue before = ref Unsafe.NullRef<TValue>();
        foreach (TKey key in map.Keys)
        {
            ref TValue value = ref CollectionsMarshal.GetValueRefOrNullRef(map, key);
            if (Unsafe.IsNullRef(ref value)) return Changed;
            if (!Unsafe.IsAddressGreaterThan(ref value, ref before)) return Equal;
            before = ref value;
        }
        return null;
    }

    internal static string? OfSet<T>(HashSet<T> set)
    {
        foreach (T item in set)
        {
            if (!set.TryGetValue(item, out T? found)) return Changed;
            if (!typeof(T).IsValueType && !ReferenceEquals(found, item)) return Equal;
        }
        // Of structs nothing tells one from another that is equal, but their number.
        if (!typeof(T).IsValueType || KeyLooks.IsFixed(typeof(T))) return null;
        var others = new HashSet<T>(set.Count, set.Comparer);
        return set.All(others.Add) ? null : Equal;
    }

    internal static string? OfHashed<TKey>(IEnumerable<TKey> keys, Func<TKey, bool> contains) => keys.All(contains) ? null : Changed;

    internal static string? OfSorted<TKey>(IEnumerable<TKey> keys, IComparer<TKey> comparer)
    {
        bool isFirst = true;
        TKey before = default!;
        foreach (TKey key in keys)
        {
            int order = isFirst ? -1 : comparer.Compare(before, key);
            if (order >= 0) return order == 0 ? Equal : Unordered;
            (isFirst, before) = (false, key);
        }
        return null;
    }

    /// <summary>A restore enqueues the elements in this order, which leaves them where they are if none is before its parent.</summary>
    internal static string? OfHeap<TElement, TPriority>(PriorityQueue<TElement, TPriority> queue)
    {
        const int ChildrenLog2 = 2; // of the framework's heap
        (TElement, TPriority Priority)[] nodes = [.. queue.UnorderedItems];
        for (int i = 1; i < nodes.Length; i++)
            if (queue.Comparer.Compare(nodes[(i - 1) >> ChildrenLog2].Priority, nodes[i].Priority) > 0) return Unordered;
        return null;
    }
}
