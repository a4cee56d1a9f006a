using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.ComponentModel;
using System.Runtime.CompilerServices;

namespace Ambrosia.Protocol;

/// <summary>
/// Says in which order the items of a collection travel (contract C3.12). An order of hash codes differs between processes, and what
/// travels is under the hashes of channels and of keys, so such a collection travels in the order of its values. Generated code uses it.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class TravelOrder
{
    /// <summary>
    /// Returns true if the enumeration of a list or set follows from what was done to the object: it has an index, or is a collection of
    /// the framework that keeps an order, or an app's own that is no set.
    /// </summary>
    public static bool IsOwn<T>(IEnumerable<T> items) => items switch
    {
        List<T> or HashSet<T> or T[] => true,
        SortedSet<T> sorted => HasOrderOfAll(sorted.Comparer),
        ImmutableSortedSet<T> sorted => HasOrderOfAll(sorted.KeyComparer),
        _ when IsOfSortedTexts(items.GetType()) => false,
        IReadOnlyList<T> or IList<T> or ConcurrentQueue<T> or ConcurrentStack<T> => true,
        ISet<T> or IReadOnlySet<T> => false,
        _ => !IsOfHashed(items.GetType()),
    };

    /// <summary>Returns true if the enumeration of a map follows from what was done to the object.</summary>
    public static bool IsOwn<TKey, TValue>(IEnumerable<KeyValuePair<TKey, TValue>> pairs)
        where TKey : notnull => pairs switch
    {
        SortedDictionary<TKey, TValue> sorted => HasOrderOfAll(sorted.Comparer),
        SortedList<TKey, TValue> sorted => HasOrderOfAll(sorted.Comparer),
        ImmutableSortedDictionary<TKey, TValue> sorted => HasOrderOfAll(sorted.KeyComparer),
        _ => pairs is Dictionary<TKey, TValue> or OrderedDictionary<TKey, TValue>,
    };

    /// <summary>Writes the items in the order of their values; where these are equal, and without a comparison, of their bytes.</summary>
    /// <param name="compare">Null: the values have no order of their own.</param>
    public static void Write<T>(ref CborWriter writer, IEnumerable<T> items, Comparison<T>? compare, ItemWriter<T> write)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var placed = new List<(T Item, int Start, int Length)>();
        foreach (T item in items)
        {
            int start = bytes.WrittenCount;
            var one = new CborWriter(bytes, writer.Depth);
            write(ref one, item);
            one.Flush();
            placed.Add((item, start, bytes.WrittenCount - start));
        }
        placed.Sort((a, b) =>
        {
            int order = compare is null ? 0 : compare(a.Item, b.Item);
            if (order != 0) return order;
            return bytes.WrittenSpan.Slice(a.Start, a.Length).SequenceCompareTo(bytes.WrittenSpan.Slice(b.Start, b.Length));
        });
        foreach ((_, int start, int length) in placed) writer.WriteEncoded(bytes.WrittenSpan.Slice(start, length));
    }

    /// <summary>
    /// Returns true if a comparer orders values alike in every process. Texts, and tuples with a text, are compared by the culture of the
    /// process unless an ordinal comparer, or one of the app, orders them.
    /// </summary>
    private static bool HasOrderOfAll<T>(IComparer<T> comparer) => comparer switch
    {
        StringComparer texts => texts.Equals(StringComparer.Ordinal) || texts.Equals(StringComparer.OrdinalIgnoreCase),
        _ => !comparer.Equals(Comparer<T>.Default) || !HasText(typeof(T)),
    };

    private static bool HasText(Type type) => type == typeof(string)
        || ((Nullable.GetUnderlyingType(type) is not null || type.IsAssignableTo(typeof(ITuple)))
            && type.GetGenericArguments().Any(HasText));

    /// <summary>Returns true of the keys and values of a map that sorts texts; they do not say by which comparer.</summary>
    private static bool IsOfSortedTexts(Type type) =>
        type is { IsNested: true, IsGenericType: true, Namespace: "System.Collections.Generic" }
        && type.DeclaringType!.Name.StartsWith("Sorted", StringComparison.Ordinal) && HasText(type.GetGenericArguments()[0]);

    /// <summary>Judges what is neither a list nor a set, like the keys of a map, by the family of the framework that made it.</summary>
    private static bool IsOfHashed(Type type) =>
        type.Namespace is "System.Collections.Immutable" or "System.Collections.Frozen" or "System.Collections.Concurrent";
}

/// <summary>Writes an item of a collection. Generated code uses it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public delegate void ItemWriter<T>(ref CborWriter writer, T item);
