using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes an array of one dimension as an array of its elements, and one of plain numbers, or structs of such, as a byte string.
/// </summary>
internal sealed class VectorShape<T> : ObjectShape
{
    private readonly Slot<T> _slot = (Slot<T>)Slots.Of(typeof(T));
    private readonly PackedItems<T> _packed = new();

    internal override TypeKind Kind => TypeKind.Array;

    internal override string[] Members(GraphWriter graph) => [_packed.Described(_slot.Describe(graph))];

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var items = (T[])instance;
        if (_packed.IsWritten)
        {
            _packed.WriteHeader(ref to, items.Length);
            _packed.Write(graph, ref to, items);
            return;
        }
        to.WriteArrayHeader(items.Length);
        foreach (T item in items)
        {
            graph.AtElementOf(typeof(T[]));
            _slot.Write(graph, ref to, item);
        }
    }

    /// <summary>The framework and the compiler give the same empty array to all.</summary>
    internal override object? ValueOf(object instance) => ((T[])instance).Length == 0 ? typeof(T[]) : null;

    internal override bool IsMadeWhole(GraphReader graph) => PackedForm.In(graph, typeof(T[])) is not null;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        if (PackedForm.In(graph, typeof(T[])) is not { } form) return New(from.ReadArrayHeader());
        int count = PackedItems<T>.ReadHeader(graph, ref from, form);
        T[] items = count == 0 ? New(0) : _packed.NewArray(count);
        _packed.Read(graph, ref from, form, items, _slot.Read);
        return items;
    }

    /// <summary>Makes an array. The empty one is the process's own, with which what is made from now on may be compared.</summary>
    private static T[] New(int count) => count == 0 ? [] : new T[count];

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        var items = (T[])instance;
        from.ReadArrayHeader();
        for (int i = 0; i < items.Length; i++)
        {
            graph.MoveOn(ref from);
            items[i] = _slot.Read(graph, ref from);
        }
    }
}

/// <summary>Writes an array of several dimensions as an array of its lengths, and then the elements row by row.</summary>
internal sealed class GridShape(Type type) : ObjectShape
{
    private readonly Slot _slot = Slots.Of(type.GetElementType()!);

    internal override TypeKind Kind => TypeKind.Grid;

    internal override string[] Members(GraphWriter graph) => [_slot.Describe(graph)];

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var grid = (Array)instance;
        to.WriteArrayHeader(2);
        to.WriteArrayHeader(grid.Rank);
        for (int dimension = 0; dimension < grid.Rank; dimension++)
        {
            if (grid.GetLowerBound(dimension) != 0) throw graph.CannotWrite(type);
            to.WriteInt64(grid.GetLength(dimension));
        }
        to.WriteArrayHeader(grid.Length);
        foreach (object? item in grid)
        {
            graph.AtElementOf(type);
            _slot.WriteBoxed(graph, ref to, item);
        }
    }

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        int[] lengths = Lengths(ref from);
        long product = 1;
        foreach (int length in lengths) product = checked(product * length);
        if (product != from.ReadArrayHeader())
            throw new InvalidDataException($"The image holds a {type} whose lengths do not fit its elements.");
        return Array.CreateInstance(type.GetElementType()!, lengths);
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        var grid = (Array)instance;
        Lengths(ref from);
        int count = from.ReadArrayHeader();
        var index = new int[grid.Rank];
        for (int i = 0; i < count; i++)
        {
            graph.MoveOn(ref from);
            grid.SetValue(_slot.ReadBoxed(graph, ref from), index);
            for (int dimension = grid.Rank - 1; dimension >= 0 && ++index[dimension] == grid.GetLength(dimension); dimension--)
                index[dimension] = 0;
        }
    }

    private int[] Lengths(ref CborReader from)
    {
        if (from.ReadArrayHeader() != 2 || from.ReadArrayHeader() != type.GetArrayRank())
            throw new InvalidDataException($"The image holds a {type} of another rank.");
        var lengths = new int[type.GetArrayRank()];
        for (int i = 0; i < lengths.Length; i++)
        {
            lengths[i] = from.ReadInt32();
            if (lengths[i] < 0) throw new InvalidDataException($"The image holds a {type} of length {lengths[i]}.");
        }
        return lengths;
    }
}
