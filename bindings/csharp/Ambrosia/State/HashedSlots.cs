using System.Reflection;
using System.Runtime.CompilerServices;

namespace Ambrosia.State;

/// <summary>
/// Reads and restores the slots of a Dictionary or HashSet. These enumerate by slot, and give the slot of a removed item to the next one
/// added, the last freed first; whether TrimExcess closes such gaps depends on the capacity. So that a restored collection enumerates as
/// the written one would have, also after more changes, capacity and free slots are part of the image. Nothing public tells the latter: the
/// framework's own fields are read, and one, the comparer, is exchanged while slots are being filled. A framework without them is refused
/// by name.
/// </summary>
internal sealed class HashedSlots
{
    private const int EndOfFree = -1, StartOfFree = -3; // how the framework chains free slots

    private readonly FieldInfo _freeList, _freeCount, _entries, _next, _comparer;
    private readonly MethodInfo _ensureCapacity;

    /// <param name="collection">A closed Dictionary or HashSet.</param>
    internal HashedSlots(Type collection)
    {
        _freeList = FieldOf(collection, "_freeList");
        _freeCount = FieldOf(collection, "_freeCount");
        _entries = FieldOf(collection, "_entries");
        _comparer = FieldOf(collection, "_comparer");
        Type entry = _entries.FieldType.GetElementType()!;
        _ensureCapacity = collection.GetMethod(nameof(HashSet<int>.EnsureCapacity), [typeof(int)])
            ?? throw Unknown(collection, nameof(HashSet<int>.EnsureCapacity));
        _next = entry.GetField("next") ?? entry.GetField("Next") ?? throw Unknown(entry, "next");
    }

    /// <exception cref="InvalidDataException">The collection is not a hashed one.</exception>
    internal static HashedSlots Of<TCollection>(HashedSlots? slots) =>
        slots ?? throw new InvalidDataException($"The image holds a {typeof(TCollection)} with slots.");

    /// <summary>Returns the number of slots that a collection has room for; 0 before the first item.</summary>
    internal int CapacityOf(object collection) => ((Array?)_entries.GetValue(collection))?.Length ?? 0;

    /// <summary>Gives an empty collection this capacity, which is one that the framework chose: it rounds it up to itself.</summary>
    internal void SetCapacity(object collection, int capacity) => _ensureCapacity.Invoke(collection, [capacity]);

    /// <summary>Returns the free slots in the order in which they will be used; most collections have none.</summary>
    internal int[] FreeOf(object collection)
    {
        var free = new int[(int)_freeCount.GetValue(collection)!];
        var slots = (Array?)_entries.GetValue(collection);
        int at = (int)_freeList.GetValue(collection)!;
        for (int i = 0; i < free.Length; i++)
        {
            free[i] = at;
            at = StartOfFree - (int)_next.GetValue(slots!.GetValue(at))!;
        }
        return free.Length == 0 || at == EndOfFree ? free
            : throw new InvalidOperationException($"the free slots of a {collection.GetType()} do not end");
    }

    /// <summary>
    /// Begins to fill an empty collection so that its items, in order, take the slots that are not free, and the others are freed in the
    /// right order.
    /// </summary>
    /// <param name="add">Adds a key that stands in a free slot meanwhile.</param>
    internal SlotFiller<TKey> Fill<TKey>(object collection, int[] free, Action<TKey> add, Func<TKey, bool> remove) =>
        new(_comparer, collection, free, add, remove);

    private static FieldInfo FieldOf(Type collection, string name) =>
        collection.GetField(name, BindingFlags.Instance | BindingFlags.NonPublic) ?? throw Unknown(collection, name);

    private static PlatformNotSupportedException Unknown(Type type, string name) =>
        new($"{type} of this runtime has no field {name}; checkpoints of such collections need the runtime that this version was made for");
}

/// <summary>
/// Fills a hashed collection slot by slot. Whoever adds an item calls <see cref="BeforeItem"/> before, and <see cref="End"/> behind the
/// last one. Meanwhile the collection has a comparer by which no item equals another, as they came from a collection.
/// </summary>
internal sealed class SlotFiller<TKey>
{
    private static readonly object s_nobody = new();

    private readonly FieldInfo _comparer;
    private readonly object _collection;
    private readonly object? _own;
    private readonly int[] _free, _inOrder;
    private readonly Action<TKey> _add;
    private readonly Func<TKey, bool> _remove;
    private readonly Placing _placing;

    /// <summary>The number of the free slots that are filled.</summary>
    private int _passed;

    internal SlotFiller(FieldInfo comparer, object collection, int[] free, Action<TKey> add, Func<TKey, bool> remove)
    {
        (_comparer, _collection, _free, _add, _remove) = (comparer, collection, free, add, remove);
        _inOrder = [.. free.Order()];
        for (int i = 1; i < _inOrder.Length; i++)
            if (_inOrder[i] == _inOrder[i - 1]) throw Impossible(_inOrder[i]);
        _own = comparer.GetValue(collection);
        _placing = new Placing((IEqualityComparer<TKey>?)_own ?? EqualityComparer<TKey>.Default, _inOrder);
        comparer.SetValue(collection, _placing);
    }

    /// <summary>
    /// The key that stands in the free slots. Nothing looks into it: hash and equality are ours. Null alone would not do, as nobody is
    /// asked for its hash.
    /// </summary>
    private static TKey Stopgap => typeof(TKey).IsValueType ? default! : Unsafe.As<object, TKey>(ref Unsafe.AsRef(in s_nobody));

    /// <summary>Fills the free slots in front of the next item.</summary>
    internal void BeforeItem()
    {
        for (; _passed < _inOrder.Length && _inOrder[_passed] == _placing.Slot; _passed++, _placing.Slot++)
        {
            _placing.IsGap = true;
            _add(Stopgap);
        }
        _placing.IsGap = false;
        _placing.Slot++;
    }

    /// <summary>Empties the free slots, the one that is used next last.</summary>
    /// <exception cref="InvalidDataException">The slots are not those of any collection.</exception>
    internal void End()
    {
        BeforeItem();
        if (_passed < _inOrder.Length) throw Impossible(_inOrder[_passed]);
        for (int i = _free.Length - 1; i >= 0; i--)
        {
            _placing.Find(_free[i]);
            if (!_remove(Stopgap)) throw new InvalidOperationException($"slot {_free[i]} of a {_collection.GetType()} was not found again");
        }
        _comparer.SetValue(_collection, _own);
    }

    private InvalidDataException Impossible(int slot) =>
        new($"The image holds a {_collection.GetType()} in which slot {slot} cannot be free.");

    /// <summary>
    /// Items keep their own hash. What fills a gap has one by its slot, by which it is found again. A collection looks first at what was
    /// added last, so where items behind the gap have its hash too, as many are passed.
    /// </summary>
    private sealed class Placing(IEqualityComparer<TKey> own, int[] free) : IEqualityComparer<TKey>
    {
        /// <summary>The number of the items behind a slot that have the hash of its gap.</summary>
        private readonly Dictionary<int, int> _behind = [];
        private bool _isRemoving;
        private int _toPass;

        /// <summary>The slot that is filled or emptied next.</summary>
        public int Slot { get; set; }

        /// <summary>True while a gap is filled or emptied.</summary>
        public bool IsGap { get; set; }

        /// <summary>Turns to the gap in a slot, which is to be removed.</summary>
        public void Find(int slot)
        {
            (Slot, IsGap, _isRemoving) = (slot, true, true);
            _toPass = _behind.GetValueOrDefault(slot);
        }

        /// <summary>It is asked about keys of one hash. Items came from a collection, so none equals another.</summary>
        public bool Equals(TKey? x, TKey? y) => _isRemoving && _toPass-- == 0;

        public int GetHashCode(TKey key)
        {
            if (IsGap) return HashOfGap(Slot);
            int hash = key is null ? 0 : own.GetHashCode(key), slot = hash - HashOfGap(0);
            if (slot >= 0 && slot < Slot && Array.BinarySearch(free, slot) >= 0) _behind[slot] = _behind.GetValueOrDefault(slot) + 1;
            return hash;
        }

        /// <summary>Returns a hash that few items have.</summary>
        private static int HashOfGap(int slot) => int.MinValue + slot;
    }
}
