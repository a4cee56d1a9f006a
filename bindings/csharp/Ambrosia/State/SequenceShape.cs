using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes a collection as one array: the code of its comparer, then its elements in order, which are one byte string if they are plain
/// numbers. The delegates say how a collection of this type is enumerated, made and filled. A collection with a comparer whose elements
/// refer to objects is filled last, since they are hashed or compared.
/// </summary>
/// <param name="make">Makes an empty collection with a comparer; null means the default one, or a collection without any.</param>
/// <param name="comparer">Gives a collection's comparer; null: collections of this type have none.</param>
/// <param name="hashed">The slots of a hashed collection; null: the order is that of the elements.</param>
internal sealed class SequenceShape<TCollection, T>(
    Func<TCollection, IEnumerable<T>> inOrder, Func<object?, TCollection> make, Action<TCollection, T> add,
    Func<TCollection, object?>? comparer = null, HashedItems<TCollection, T>? hashed = null)
    : ObjectShape
    where TCollection : class
{
    private readonly Slot<T> _slot = (Slot<T>)Slots.Of(typeof(T));
    private readonly PackedItems<T> _packed = new();

    /// <summary>Makes room for so many elements; null: it comes with them.</summary>
    internal Action<TCollection, int>? Reserve { get; init; }

    /// <summary>Counts the elements of a collection that does not say so as others do.</summary>
    internal Func<TCollection, int> Count { get; init; } = static collection => ((IReadOnlyCollection<T>)collection).Count;

    /// <summary>Gives the memory of so many elements, all of the collection; null: they do not lie side by side.</summary>
    internal ItemsOf<TCollection, T>? Items { get; init; }

    /// <summary>Treats the elements as keys; null: those of this type of collection are none.</summary>
    internal KeyedItems<TCollection>? Keys { get; init; }

    /// <summary>Is called when a collection has got all its elements; null: nothing is left to do then.</summary>
    internal Action<TCollection>? Filled { get; init; }

    internal override TypeKind Kind => TypeKind.Sequence;

    internal override string[] Members(GraphWriter graph) => [_packed.Described(_slot.Describe(graph))];

    internal override bool IsFilledLast => comparer is not null && !_slot.StandsForItself;

    internal override Type? KeyType => comparer is null ? null : typeof(T);

    internal override bool ComparesKeys => hashed is null;

    internal override string? FindLostKey(object instance) => Keys?.FindLost((TCollection)instance);

    internal override void Empty(object instance) => Keys!.Clear((TCollection)instance);

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var collection = (TCollection)instance;
        int count = Count(collection);
        to.WriteArrayHeader(_packed.IsWritten ? 2 : 1 + count);
        Comparers.Write(graph, ref to, comparer?.Invoke(collection), typeof(TCollection), hashed?.Slots.CapacityOf(collection) ?? 0,
            hashed?.Slots.FreeOf(collection));
        if (_packed.IsWritten)
        {
            _packed.WriteHeader(ref to, count);
            if (Items is not null) _packed.Write(graph, ref to, Items(collection, count));
            else _packed.Write(graph, ref to, inOrder(collection), count);
            return;
        }
        foreach (T item in inOrder(collection))
        {
            graph.AtElementOf(typeof(TCollection));
            _slot.Write(graph, ref to, item);
        }
    }

    internal override bool IsMadeWhole(GraphReader graph) => PackedForm.In(graph, typeof(TCollection)) is not null;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        CborReader whole = from;
        from.ReadArrayHeader();
        TCollection collection = make(Comparers.Read<T>(ref from, out _, out _));
        if (!IsMadeWhole(graph)) return collection;
        from = whole;
        Fill(graph, ref from, collection);
        return collection;
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        var collection = (TCollection)instance;
        int items = from.ReadArrayHeader();
        Comparers.Read<T>(ref from, out int capacity, out int[] free);
        if (capacity > 0) HashedSlots.Of<TCollection>(hashed?.Slots).SetCapacity(collection, capacity);
        if (free.Length == 0)
        {
            ReadItems(graph, ref from, items, collection);
            Filled?.Invoke(collection);
            if (comparer is not null && PackedForm.In(graph, typeof(TCollection)) is null) KeyChecks.Expect(items - 1, Count(collection));
            return;
        }
        SlotFiller<T> filler = HashedSlots.Of<TCollection>(hashed?.Slots)
            .Fill<T>(collection, free, item => add(collection, item), item => hashed!.Remove(collection, item));
        ReadItems(graph, ref from, items, item =>
        {
            filler.BeforeItem();
            add(collection, item);
        });
        filler.End();
    }

    internal override void Report(GraphReader graph, ref CborReader from, FillOrder to)
    {
        int items = from.ReadArrayHeader();
        Comparers.Read<T>(ref from, out _, out _);
        to.Elements(graph, ref from, items, _slot);
    }

    private void ReadItems(GraphReader graph, ref CborReader from, int items, TCollection to)
    {
        if (Items is not null && PackedForm.In(graph, typeof(TCollection)) is { } form)
            _packed.Read(graph, ref from, form, Items(to, ReadPackedHeader(graph, ref from, form, items)), _slot.Read);
        else ReadItems(graph, ref from, items, item => add(to, item), count => Reserve?.Invoke(to, count));
    }

    private void ReadItems(GraphReader graph, ref CborReader from, int items, Action<T> add, Action<int>? reserve = null)
    {
        if (PackedForm.In(graph, typeof(TCollection)) is { } form)
        {
            int left = ReadPackedHeader(graph, ref from, form, items);
            reserve?.Invoke(left);
            var stretch = new T[Math.Min(left, PackedItems<T>.StretchMax)];
            for (; left > 0; left -= stretch.Length)
            {
                Span<T> read = stretch.AsSpan(0, Math.Min(left, stretch.Length));
                _packed.Read(graph, ref from, form, read, _slot.Read);
                foreach (T item in read) add(item);
            }
            return;
        }
        reserve?.Invoke(items - 1);
        for (int i = 1; i < items; i++)
        {
            graph.MoveOn(ref from);
            add(_slot.Read(graph, ref from));
        }
    }

    private static int ReadPackedHeader(GraphReader graph, ref CborReader from, PackedForm form, int items) =>
        items == 2 ? PackedItems<T>.ReadHeader(graph, ref from, form)
            : throw new InvalidDataException($"The image holds a packed {typeof(TCollection)} of {items} items.");
}

/// <summary>Gives the memory of a collection's elements, after it has given the collection so many.</summary>
internal delegate Span<T> ItemsOf<in TCollection, T>(TCollection collection, int count);

/// <summary>Treats the elements of a collection that are hashed or compared.</summary>
/// <param name="FindLost">See <see cref="ObjectShape.FindLostKey"/>.</param>
/// <param name="Clear">Takes all of them out.</param>
internal sealed record KeyedItems<TCollection>(Func<TCollection, string?> FindLost, Action<TCollection> Clear);

/// <summary>Says how the elements of a hashed collection lie, whose slots a restore fills and frees as the image says.</summary>
/// <param name="Remove">Removes an element, which frees its slot.</param>
internal sealed record HashedItems<TCollection, T>(HashedSlots Slots, Func<TCollection, T, bool> Remove);
