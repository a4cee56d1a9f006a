using Ambrosia.Protocol;

namespace Ambrosia.State;

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
