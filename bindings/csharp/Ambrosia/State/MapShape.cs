using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes a dictionary as one array: the comparer, then keys and values in enumeration order, which are one byte string if they are plain
/// numbers. Where its keys refer to objects, it is filled last, as they are hashed or compared.
/// </summary>
/// <param name="slots">The slots of a hashed dictionary; null: the order follows from the keys.</param>
/// <param name="findLostKey">See <see cref="ObjectShape.FindLostKey"/>.</param>
internal sealed class MapShape<TMap, TKey, TValue>(
    Func<TMap, object?> comparer, Func<object?, TMap> make, HashedSlots? slots, Func<TMap, string?> findLostKey)
    : ObjectShape
    where TMap : class, IDictionary<TKey, TValue>
    where TKey : notnull
{
    private readonly Slot<TKey> _keys = (Slot<TKey>)Slots.Of(typeof(TKey));
    private readonly Slot<TValue> _values = (Slot<TValue>)Slots.Of(typeof(TValue));
    private readonly PackedItems<KeyValuePair<TKey, TValue>> _packed = new();

    internal override TypeKind Kind => TypeKind.Map;

    internal override string[] Members(GraphWriter graph) =>
        [_packed.Described(_keys.Describe(graph)), _packed.Described(_values.Describe(graph))];

    internal override bool IsFilledLast => !_keys.StandsForItself;

    internal override Type? KeyType => typeof(TKey);

    internal override bool ComparesKeys => slots is null;

    internal override string? FindLostKey(object instance) => findLostKey((TMap)instance);

    internal override void Empty(object instance) => ((TMap)instance).Clear();

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var map = (TMap)instance;
        to.WriteArrayHeader(_packed.IsWritten ? 2 : 1 + 2 * map.Count);
        Comparers.Write(graph, ref to, comparer(map), typeof(TMap), slots?.CapacityOf(map) ?? 0, slots?.FreeOf(map));
        if (_packed.IsWritten)
        {
            _packed.WriteHeader(ref to, map.Count);
            _packed.Write(graph, ref to, map, map.Count);
            return;
        }
        foreach ((TKey key, TValue value) in map)
        {
            graph.AtElementOf(typeof(TMap));
            _keys.Write(graph, ref to, key);
            graph.AtElementOf(typeof(TMap));
            _values.Write(graph, ref to, value);
        }
    }

    internal override bool IsMadeWhole(GraphReader graph) => PackedForm.In(graph, typeof(TMap)) is not null;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        CborReader whole = from;
        from.ReadArrayHeader();
        TMap map = make(Comparers.Read<TKey>(ref from, out _, out _));
        if (!IsMadeWhole(graph)) return map;
        from = whole;
        Fill(graph, ref from, map);
        return map;
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        var map = (TMap)instance;
        int items = from.ReadArrayHeader();
        Comparers.Read<TKey>(ref from, out int capacity, out int[] free);
        if (capacity > 0) HashedSlots.Of<TMap>(slots).SetCapacity(map, capacity);
        if (free.Length == 0)
        {
            ReadPairs(graph, ref from, items, map.Add); // throws where two keys are equal
            return;
        }
        SlotFiller<TKey> filler = HashedSlots.Of<TMap>(slots).Fill<TKey>(map, free, key => map.Add(key, default!), map.Remove);
        ReadPairs(graph, ref from, items, (key, value) =>
        {
            filler.BeforeItem();
            map.Add(key, value);
        });
        filler.End();
    }

    internal override void Report(GraphReader graph, ref CborReader from, FillOrder to)
    {
        int items = from.ReadArrayHeader();
        Comparers.Read<TKey>(ref from, out _, out _);
        to.Pairs(graph, ref from, items, _keys, _values);
    }

    private void ReadPairs(GraphReader graph, ref CborReader from, int items, Action<TKey, TValue> add)
    {
        if (PackedForm.In(graph, typeof(TMap)) is { } form)
        {
            ReadPacked(graph, ref from, form, items, add);
            return;
        }
        for (int i = 1; i + 1 < items; i += 2)
        {
            graph.MoveOn(ref from);
            KeyValuePair<TKey, TValue> pair = ReadPair(graph, ref from);
            add(pair.Key, pair.Value);
        }
    }

    private void ReadPacked(GraphReader graph, ref CborReader from, PackedForm form, int items, Action<TKey, TValue> add)
    {
        if (items != 2) throw new InvalidDataException($"The image holds a packed {typeof(TMap)} of {items} items.");
        int left = PackedItems<KeyValuePair<TKey, TValue>>.ReadHeader(graph, ref from, form);
        var stretch = new KeyValuePair<TKey, TValue>[Math.Min(left, PackedItems<KeyValuePair<TKey, TValue>>.StretchMax)];
        for (; left > 0; left -= stretch.Length)
        {
            Span<KeyValuePair<TKey, TValue>> pairs = stretch.AsSpan(0, Math.Min(left, stretch.Length));
            _packed.Read(graph, ref from, form, pairs, ReadPair);
            foreach ((TKey key, TValue value) in pairs) add(key, value);
        }
    }

    private KeyValuePair<TKey, TValue> ReadPair(GraphReader graph, ref CborReader from)
    {
        TKey key = _keys.Read(graph, ref from) ?? throw new InvalidDataException($"The image holds a {typeof(TMap)} with a null key.");
        return new(key, _values.Read(graph, ref from));
    }
}
