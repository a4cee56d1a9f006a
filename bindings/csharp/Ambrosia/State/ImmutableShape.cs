using System.Collections.Immutable;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes an immutable list, stack, queue or set as a sequence. Others may refer to it before it is whole, so an empty object takes its
/// place, and gets the fields of the collection that is made of the elements. Empty ones are one object, since a process has them once, and
/// come back as that of the process, with which others are compared.
/// </summary>
/// <param name="inOrder">Gives the elements in the order of the image.</param>
/// <param name="build">Makes a collection of a comparer (null: the default one, or none) and the elements in that order.</param>
/// <param name="comparer">Gives a collection's comparer; null: collections of this type have none.</param>
internal sealed class ImmutableShape<TCollection, T>(
    Func<TCollection, IEnumerable<T>> inOrder, Func<object?, List<T>, TCollection> build, Func<TCollection, object?>? comparer = null)
    : ObjectShape
    where TCollection : class, IEnumerable<T>
{
    private readonly Slot<T> _slot = (Slot<T>)Slots.Of(typeof(T));

    internal override TypeKind Kind => TypeKind.Sequence;

    internal override string[] Members(GraphWriter graph) => [_slot.Describe(graph)];

    internal override bool IsFilledLast => comparer is not null && !_slot.StandsForItself;

    internal override Type? KeyType => comparer is null ? null : typeof(T);

    internal override bool ComparesKeys => true; // what is hashed is plain, and needs no order

    internal override string? FindLostKey(object instance) => LostKey?.Invoke((TCollection)instance);

    /// <summary>See <see cref="ObjectShape.FindLostKey"/>; null: collections of this type have no keys.</summary>
    internal Func<TCollection, string?>? LostKey { get; init; }

    internal override object? ValueOf(object instance) => Emptiness.Of((TCollection)instance, comparer?.Invoke((TCollection)instance));

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var collection = (TCollection)instance;
        List<T> items = [.. inOrder(collection)];
        to.WriteArrayHeader(1 + items.Count);
        Comparers.Write(graph, ref to, comparer?.Invoke(collection), typeof(TCollection), 0, default);
        foreach (T item in items)
        {
            graph.AtElementOf(typeof(TCollection));
            _slot.Write(graph, ref to, item);
        }
    }

    internal override object Allocate(GraphReader graph, ref CborReader from) =>
        from.ReadArrayHeader() > 1 ? RuntimeHelpers.GetUninitializedObject(typeof(TCollection))
        : build(Comparers.Read<T>(ref from, out _, out _), []);

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        int items = from.ReadArrayHeader();
        object? order = Comparers.Read<T>(ref from, out _, out _);
        var read = new List<T>();
        for (int i = 1; i < items; i++)
        {
            graph.MoveOn(ref from);
            read.Add(_slot.Read(graph, ref from));
        }
        if (read.Count == 0) return; // it is whole
        TCollection built = build(order, read);
        if (comparer is not null) KeyChecks.Expect(read.Count, ((IReadOnlyCollection<T>)built).Count);
        FieldCopier<TCollection>.Copy(built, instance);
    }

    internal override void Report(GraphReader graph, ref CborReader from, FillOrder to)
    {
        int items = from.ReadArrayHeader();
        Comparers.Read<T>(ref from, out _, out _);
        to.Elements(graph, ref from, items, _slot);
    }
}

/// <summary>Writes an immutable dictionary as a map, as <see cref="ImmutableShape{TCollection, T}"/> does a sequence.</summary>
internal sealed class ImmutableMapShape<TMap, TKey, TValue>(
    Func<TMap, IEnumerable<KeyValuePair<TKey, TValue>>> inOrder,
    Func<(object? Keys, object? Values), List<KeyValuePair<TKey, TValue>>, TMap> build,
    Func<TMap, (object? Keys, object? Values)> comparers)
    : ObjectShape
    where TMap : class, IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    private readonly Slot<TKey> _keys = (Slot<TKey>)Slots.Of(typeof(TKey));
    private readonly Slot<TValue> _values = (Slot<TValue>)Slots.Of(typeof(TValue));

    internal override TypeKind Kind => TypeKind.Map;

    internal override string[] Members(GraphWriter graph) => [_keys.Describe(graph), _values.Describe(graph)];

    internal override bool IsFilledLast => !_keys.StandsForItself;

    internal override Type? KeyType => typeof(TKey);

    internal override bool ComparesKeys => true; // what is hashed is plain, and needs no order

    internal override string? FindLostKey(object instance) => LostKey((TMap)instance);

    /// <summary>Does what <see cref="ObjectShape.FindLostKey"/> says.</summary>
    internal required Func<TMap, string?> LostKey { get; init; }

    internal override object? ValueOf(object instance) => Emptiness.Of((TMap)instance, comparers((TMap)instance));

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var map = (TMap)instance;
        List<KeyValuePair<TKey, TValue>> pairs = [.. inOrder(map)];
        to.WriteArrayHeader(1 + 2 * pairs.Count);
        (object? ofKeys, object? ofValues) = comparers(map);
        Comparers.WritePair(graph, ref to, ofKeys, ofValues, typeof(TMap));
        foreach ((TKey key, TValue value) in pairs)
        {
            graph.AtElementOf(typeof(TMap));
            _keys.Write(graph, ref to, key);
            graph.AtElementOf(typeof(TMap));
            _values.Write(graph, ref to, value);
        }
    }

    internal override object Allocate(GraphReader graph, ref CborReader from) =>
        from.ReadArrayHeader() > 1 ? RuntimeHelpers.GetUninitializedObject(typeof(TMap))
        : build(Comparers.ReadPair<TKey, TValue>(ref from), []);

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        int items = from.ReadArrayHeader();
        (object?, object?) order = Comparers.ReadPair<TKey, TValue>(ref from);
        var read = new List<KeyValuePair<TKey, TValue>>();
        for (int i = 1; i + 1 < items; i += 2)
        {
            graph.MoveOn(ref from);
            TKey key = _keys.Read(graph, ref from) ?? throw new InvalidDataException($"The image holds a {typeof(TMap)} with a null key.");
            read.Add(new(key, _values.Read(graph, ref from)));
        }
        if (read.Count == 0) return; // it is whole
        TMap built = build(order, read);
        KeyChecks.Expect(read.Count, ((IReadOnlyCollection<KeyValuePair<TKey, TValue>>)built).Count);
        FieldCopier<TMap>.Copy(built, instance);
    }

    internal override void Report(GraphReader graph, ref CborReader from, FillOrder to)
    {
        int items = from.ReadArrayHeader();
        Comparers.ReadPair<TKey, TValue>(ref from);
        to.Pairs(graph, ref from, items, _keys, _values);
    }
}

/// <summary>
/// Makes the shapes of the framework's immutable collections. <see cref="ObjectShapes"/> calls the methods by reflection.
/// </summary>
internal static class ImmutableCollections
{
    /// <summary>The names of the methods below by the collection whose shape they make.</summary>
    internal static readonly Dictionary<Type, string> MakerOf = new()
    {
        [typeof(ImmutableList<>)] = nameof(OfList),
        [typeof(ImmutableQueue<>)] = nameof(OfQueue),
        [typeof(ImmutableStack<>)] = nameof(OfStack),
        [typeof(ImmutableSortedSet<>)] = nameof(OfSortedSet),
        [typeof(ImmutableHashSet<>)] = nameof(OfHashSet),
        [typeof(ImmutableSortedDictionary<,>)] = nameof(OfSortedDictionary),
        [typeof(ImmutableDictionary<,>)] = nameof(OfDictionary),
    };

    internal static ObjectShape OfList<T>() => new ImmutableShape<ImmutableList<T>, T>(
        static c => c, static (_, items) => ImmutableList.CreateRange(items));

    internal static ObjectShape OfQueue<T>() => new ImmutableShape<ImmutableQueue<T>, T>(
        static c => c, static (_, items) => ImmutableQueue.CreateRange(items));

    /// <summary>A stack enumerates from its top; the bottom is pushed first.</summary>
    internal static ObjectShape OfStack<T>() => new ImmutableShape<ImmutableStack<T>, T>(
        static c => c.Reverse(), static (_, items) => ImmutableStack.CreateRange(items));

    internal static ObjectShape OfSortedSet<T>() => new ImmutableShape<ImmutableSortedSet<T>, T>(
        static c => c, static (order, items) => ImmutableSortedSet.CreateRange((IComparer<T>?)order, items), static c => c.KeyComparer)
    {
        LostKey = static c => KeyChecks.OfSorted(c, c.KeyComparer),
    };

    internal static ObjectShape OfHashSet<T>() => !HashOrder<T>.CanBeUndone ? throw HashOrder<T>.Refusal()
        : new ImmutableShape<ImmutableHashSet<T>, T>(
        static c => HashOrder<T>.Undone(c, static each => each),
        static (order, items) => ImmutableHashSet.CreateRange((IEqualityComparer<T>?)order, items), static c => c.KeyComparer)
        {
            LostKey = static c => KeyChecks.OfHashed(c, c.Contains),
        };

    internal static ObjectShape OfSortedDictionary<TKey, TValue>()
        where TKey : notnull => new ImmutableMapShape<ImmutableSortedDictionary<TKey, TValue>, TKey, TValue>(
        static c => c, static (order, pairs) => ImmutableSortedDictionary.CreateRange(
            (IComparer<TKey>?)order.Keys, (IEqualityComparer<TValue>?)order.Values, pairs),
        static c => (c.KeyComparer, c.ValueComparer))
        {
            LostKey = static c => KeyChecks.OfSorted(c.Keys, c.KeyComparer),
        };

    internal static ObjectShape OfDictionary<TKey, TValue>()
        where TKey : notnull => !HashOrder<TKey>.CanBeUndone ? throw HashOrder<TKey>.Refusal()
        : new ImmutableMapShape<ImmutableDictionary<TKey, TValue>, TKey, TValue>(
        static c => HashOrder<TKey>.Undone(c, static pair => pair.Key),
        static (order, pairs) => ImmutableDictionary.CreateRange(
            (IEqualityComparer<TKey>?)order.Keys, (IEqualityComparer<TValue>?)order.Values, pairs),
        static c => (c.KeyComparer, c.ValueComparer))
        {
            LostKey = static c => KeyChecks.OfHashed(c.Keys, c.ContainsKey),
        };
}

/// <summary>
/// Gives elements that a collection keeps in the order of their hash codes, which differ from process to process, in the order of their
/// values.
/// </summary>
internal static class HashOrder<TKey>
{
    /// <summary>True unless the keys are objects or structs of the app, which have no order that is known here.</summary>
    internal static bool CanBeUndone => typeof(TKey) == typeof(string) || Slots.IsPrimitive(typeof(TKey));

    internal static IEnumerable<T> Undone<T>(IEnumerable<T> items, Func<T, TKey> keyOf) =>
        typeof(TKey) == typeof(string) ? items.OrderBy(each => (string?)(object?)keyOf(each), StringComparer.Ordinal)
        : items.OrderBy(keyOf, Comparer<TKey>.Default);

    internal static NotWritableException Refusal() => new(
        $"an immutable collection that hashes {typeof(TKey)} cannot be written, since its order is that of hash codes");
}

/// <summary>Says what stands for an immutable collection without elements: a process has such a one once, whoever refers to it.</summary>
internal static class Emptiness
{
    internal static object? Of<TCollection>(TCollection collection, object? comparer)
        where TCollection : class, System.Collections.IEnumerable => IsEmpty(collection) ? (typeof(TCollection), comparer) : null;

    private static bool IsEmpty(System.Collections.IEnumerable collection)
    {
        foreach (object? _ in collection) return false;
        return true;
    }
}

/// <summary>Copies the fields of an object into another of its class, which nobody has read yet.</summary>
internal static class FieldCopier<T>
    where T : class
{
    private static readonly FieldInfo[] s_fields =
        typeof(T).GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic);

    internal static void Copy(T from, object to)
    {
        foreach (FieldInfo field in s_fields) field.SetValue(to, field.GetValue(from));
    }
}
