using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.State;

/// <summary>
/// Numbers the objects of a graph in the order of first mention, and finds the number of each. It is the one thing that grows with the
/// count of objects while an image is written, so it is small: a reference for each object, in blocks that never move, and five to eight
/// bytes in a table of numbers by the objects' hashes. The table has no copy of the hashes: when it grows, it is given back and made anew
/// from the blocks. One thread. Invariant: every object of the blocks is in the table, once.
/// </summary>
internal sealed class ObjectTable
{
    private const int BlockBits = 14, BlockObjects = 1 << BlockBits;
    private const int SlotsFirst = 64;

    private readonly List<object[]> _blocks = [];
    private NumberSlots? _slots;

    /// <summary>The objects that stand for all equal ones, by what makes them equal.</summary>
    private readonly Dictionary<object, int> _byValue = [];

    internal int Count { get; private set; }

    internal object this[int number] => _blocks[number >> BlockBits][number & (BlockObjects - 1)];

    /// <summary>Returns the number of an object; -1 where it has none.</summary>
    internal int Find(object instance)
    {
        if (_slots is not { } slots) return -1;
        for (long at = slots.HomeOf(instance); slots[at] is var number && number >= 0; at = slots.Behind(at))
            if (ReferenceEquals(this[number], instance)) return number;
        return -1;
    }

    /// <summary>Returns the number of the object that stands for all of this value; -1: there is none.</summary>
    internal int FindEqual(object? value) => value is not null && _byValue.TryGetValue(value, out int known) ? known : -1;

    /// <summary>Gives an object that has none the next number.</summary>
    /// <param name="value">The value for all of which it stands from here on; null: it stands for itself.</param>
    internal int Add(object instance, object? value)
    {
        if (_slots is null || !_slots.HasRoomFor(Count + 1)) Grow();
        int number = Count++;
        int block = number >> BlockBits;
        if (block == _blocks.Count) _blocks.Add(new object[block == 0 ? SlotsFirst : BlockObjects]);
        else if (number == _blocks[block].Length) GrowFirst();
        _blocks[block][number & (BlockObjects - 1)] = instance;
        _slots!.Put(instance, number);
        if (value is not null) _byValue.Add(value, number);
        return number;
    }

    /// <summary>Gives the memory of the table back; the numbers are known by their order only from here on.</summary>
    internal void Free()
    {
        _slots?.Dispose();
        _slots = null;
        _blocks.Clear();
        _byValue.Clear();
        Count = 0;
    }

    /// <summary>Makes the first block larger, which most graphs never fill.</summary>
    private void GrowFirst()
    {
        object[] block = _blocks[0];
        Array.Resize(ref block, Math.Min(4 * block.Length, BlockObjects));
        _blocks[0] = block;
    }

    private void Grow()
    {
        long slots = _slots is null ? SlotsFirst : _slots.Count + _slots.Count / 2;
        _slots?.Dispose();
        _slots = new NumberSlots(slots);
        for (int number = 0; number < Count; number++) _slots.Put(this[number], number);
    }
}

/// <summary>Holds numbers at the places that the hashes of their objects choose, outside the managed heap.</summary>
internal sealed unsafe class NumberSlots : IDisposable
{
    /// <summary>Spreads a hash, which has 26 bits and little entropy among objects of one thread, over 32.</summary>
    private const uint Spread = 0x9E37_79B1;

    /// <summary>Each slot has the number plus 1; 0: it is empty.</summary>
    private int* _numbers;

    internal NumberSlots(long count)
    {
        Count = count;
        _numbers = (int*)NativeMemory.AllocZeroed((nuint)count, sizeof(int));
    }

    ~NumberSlots() => NativeMemory.Free(_numbers);

    internal long Count { get; }

    /// <summary>Returns the number in a slot; -1: the slot is empty.</summary>
    internal int this[long slot] => _numbers[slot] - 1;

    /// <summary>Three quarters are used at most.</summary>
    internal bool HasRoomFor(long numbers) => numbers <= Count / 4 * 3;

    /// <summary>Returns the slot at which the search for an object begins.</summary>
    internal long HomeOf(object instance) =>
        (long)(((ulong)((uint)RuntimeHelpers.GetHashCode(instance) * Spread) * (ulong)Count) >> 32);

    internal long Behind(long slot) => slot + 1 == Count ? 0 : slot + 1;

    /// <summary>Puts the number of an object, which has none, into the first empty slot from its home on.</summary>
    internal void Put(object instance, int number)
    {
        long at = HomeOf(instance);
        while (_numbers[at] != 0) at = Behind(at);
        _numbers[at] = number + 1;
    }

    public void Dispose()
    {
        NativeMemory.Free(_numbers);
        _numbers = null;
        GC.SuppressFinalize(this);
    }
}
