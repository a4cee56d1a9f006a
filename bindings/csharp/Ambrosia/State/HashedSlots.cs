// Dictionary and HashSet enumerate by slot, and give the slot of a removed item to the next one added, the last freed first; whether
// TrimExcess closes such gaps depends on the capacity. So that a restored collection enumerates as the written one would have, also after
// more changes, capacity and free slots are part of the image. Nothing public tells the latter: the framework's own fields are read, and
// one, the comparer, is exchanged while slots are being filled. A framework without them is refused by name.
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Ambrosia;

internal sealed class HashedSlots
{
    private const int EndOfFree = -1, StartOfFree = -3; // how the framework chains free slots

    private readonly FieldInfo freeList, freeCount, entries, next, comparer;
    private readonly MethodInfo ensureCapacity;

    /// <param name="collection">A closed Dictionary or HashSet.</param>
    internal HashedSlots(Type collection)
    {
        freeList = FieldOf(collection, "_freeList");
        freeCount = FieldOf(collection, "_freeCount");
        entries = FieldOf(collection, "_entries");
        comparer = FieldOf(collection, "_comparer");
        Type entry = entries.FieldType.GetElementType()!;
        ensureCapacity = collection.GetMethod(nameof(HashSet<int>.EnsureCapacity), [typeof(int)])
            ?? throw Unknown(collection, nameof(HashSet<int>.EnsureCapacity));
        next = entry.GetField("next") ?? entry.GetField("Next") ?? throw Unknown(entry, "next");
    }

    /// <exception cref="InvalidDataException">The collection is not a hashed one.</exception>
    internal static HashedSlots Of<TCollection>(HashedSlots? slots) =>
        slots ?? throw new InvalidDataException($"The image holds a {typeof(TCollection)} with slots.");

    /// <summary>Slots that it has room for; 0 before the first item.</summary>
    internal int CapacityOf(object collection) => ((Array?)entries.GetValue(collection))?.Length ?? 0;

    /// <summary>Gives an empty collection this capacity, which is one that the framework chose: it rounds it up to itself.</summary>
    internal void SetCapacity(object collection, int capacity) => ensureCapacity.Invoke(collection, [capacity]);

    /// <summary>Free slots in the order in which they will be used; most collections have none.</summary>
    internal int[] FreeOf(object collection)
    {
        var free = new int[(int)freeCount.GetValue(collection)!];
        var slots = (Array?)entries.GetValue(collection);
        int at = (int)freeList.GetValue(collection)!;
        for (int i = 0; i < free.Length; i++)
        {
            free[i] = at;
            at = StartOfFree - (int)next.GetValue(slots!.GetValue(at))!;
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
        object? own = comparer.GetValue(collection);
        var placing = new Placing<TKey>((IEqualityComparer<TKey>?)own ?? EqualityComparer<TKey>.Default, keys);
        comparer.SetValue(collection, placing);
        // Whatever it is, nothing looks into it: hash and equality are ours. Null alone would not do, as nobody is asked for its hash.
        TKey stopgap = typeof(TKey).IsValueType ? default! : Unsafe.As<object, TKey>(ref Unsafe.AsRef(in Nobody));
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
        comparer.SetValue(collection, own);
    }

    private static readonly object Nobody = new();

    private static FieldInfo FieldOf(Type collection, string name) =>
        collection.GetField(name, BindingFlags.Instance | BindingFlags.NonPublic) ?? throw Unknown(collection, name);

    private static PlatformNotSupportedException Unknown(Type type, string name) =>
        new($"{type} of this runtime has no field {name}; checkpoints of such collections need the runtime that this version was made for");

    /// <summary>
    /// Items keep their own hash; what fills a gap gets one that no item has, so that it is found again whatever its key.
    /// </summary>
    private sealed class Placing<TKey> : IEqualityComparer<TKey>
    {
        private readonly IEqualityComparer<TKey> own;
        private readonly HashSet<int> taken = [];
        private readonly Dictionary<int, int> hashOfSlot = [];
        private int unused = int.MinValue;

        public Placing(IEqualityComparer<TKey> own, IReadOnlyList<TKey> keys)
        {
            this.own = own;
            foreach (TKey key in keys) taken.Add(HashOf(key));
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
            if (hashOfSlot.TryGetValue(slot, out int hash)) return hash;
            while (!taken.Add(unused)) unused++;
            return hashOfSlot[slot] = unused;
        }

        private int HashOf(TKey key) => key is null ? 0 : own.GetHashCode(key);
    }
}
