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
    /// Fills an empty collection so that its items, in order, take the slots that are not free, and frees the others in the right order.
    /// </summary>
    /// <exception cref="InvalidDataException">The slots are not those of any collection.</exception>
    internal void Fill<TKey>(object collection, IReadOnlyList<TKey> keys, int[] free, Action<TKey, int> add, Func<TKey, bool> remove)
    {
        bool[] isFree = new bool[keys.Count + free.Length];
        foreach (int slot in free)
        {
            if ((uint)slot >= (uint)isFree.Length || isFree[slot])
                throw new InvalidDataException($"The image holds a {collection.GetType()} with a free slot {slot} of {isFree.Length}.");
            isFree[slot] = true;
        }
        object? own = _comparer.GetValue(collection);
        var placing = new Placing<TKey>((IEqualityComparer<TKey>?)own ?? EqualityComparer<TKey>.Default, keys);
        _comparer.SetValue(collection, placing);
        // Whatever it is, nothing looks into it: hash and equality are ours. Null alone would not do, as nobody is asked for its hash.
        TKey stopgap = typeof(TKey).IsValueType ? default! : Unsafe.As<object, TKey>(ref Unsafe.AsRef(in s_nobody));
        int item = 0;
        for (int slot = 0; slot < isFree.Length; slot++)
        {
            placing.Stopgap = isFree[slot] ? slot : null;
            if (isFree[slot]) add(stopgap, -1);
            else add(keys[item], item++);
        }
        for (int i = free.Length - 1; i >= 0; i--)
        {
            placing.Stopgap = free[i];
            placing.IsRemoving = true;
            if (!remove(stopgap)) throw new InvalidOperationException($"slot {free[i]} of a {collection.GetType()} was not found again");
        }
        _comparer.SetValue(collection, own);
    }

    private static readonly object s_nobody = new();

    private static FieldInfo FieldOf(Type collection, string name) =>
        collection.GetField(name, BindingFlags.Instance | BindingFlags.NonPublic) ?? throw Unknown(collection, name);

    private static PlatformNotSupportedException Unknown(Type type, string name) =>
        new($"{type} of this runtime has no field {name}; checkpoints of such collections need the runtime that this version was made for");

    /// <summary>
    /// Places items in slots of our choice: items keep their own hash, and what fills a gap gets one that no item has, so that it is found
    /// again whatever its key.
    /// </summary>
    private sealed class Placing<TKey> : IEqualityComparer<TKey>
    {
        private readonly IEqualityComparer<TKey> _own;
        private readonly HashSet<int> _taken = [];
        private readonly Dictionary<int, int> _hashOfSlot = [];
        private int _unused = int.MinValue;

        public Placing(IEqualityComparer<TKey> own, IReadOnlyList<TKey> keys)
        {
            _own = own;
            foreach (TKey key in keys) _taken.Add(HashOf(key));
        }

        /// <summary>The slot whose gap is being filled or emptied; null: an item is being added.</summary>
        public int? Stopgap { get; set; }

        public bool IsRemoving { get; set; }

        /// <summary>
        /// Items came from a collection, so none equals another; only an emptied gap is looked for, and it alone has that hash.
        /// </summary>
        public bool Equals(TKey? x, TKey? y) => IsRemoving;

        public int GetHashCode(TKey key)
        {
            if (Stopgap is not { } slot) return HashOf(key);
            if (_hashOfSlot.TryGetValue(slot, out int hash)) return hash;
            while (!_taken.Add(_unused)) _unused++;
            return _hashOfSlot[slot] = _unused;
        }

        private int HashOf(TKey key) => key is null ? 0 : _own.GetHashCode(key);
    }
}
