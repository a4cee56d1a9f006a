using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes an array of one dimension as an array of its elements, and one of plain numbers, or structs of such, as a byte string.
/// </summary>
internal sealed class VectorShape<T> : ObjectShape
{
    private readonly Slot<T> _slot = (Slot<T>)Slots.Of(typeof(T));
    private readonly PackedLayout? _packed = PackedLayout.Of<T>();

    internal override TypeKind Kind => TypeKind.Array;

    internal override string[] Members(GraphWriter graph) =>
        [_packed is null ? _slot.Describe(graph) : SlotTexts.Packed + _slot.Describe(graph)];

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        var items = (T[])instance;
        if (_packed is not null)
        {
            to.WriteBytesHeader((ulong)items.LongLength * (ulong)_packed.Bytes);
            for (int at = 0, count; at < items.Length; at += count)
                _packed.Write(graph, ref to, BytesOf(items, at, count = Math.Min(items.Length - at, StretchMax)));
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

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        if (from.PeekKind() != CborKind.Bytes) return new T[from.ReadArrayHeader()];
        long bytes = graph.ReadBytesLength(ref from), count = bytes / FormOf(graph, bytes).Bytes;
        return count <= Array.MaxLength ? new T[count]
            : throw new InvalidDataException($"The image holds a {typeof(T[])} of {count} elements.");
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
        var items = (T[])instance;
        if (from.PeekKind() == CborKind.Bytes)
        {
            Unpack(graph, ref from, items);
            return;
        }
        from.ReadArrayHeader();
        for (int i = 0; i < items.Length; i++)
        {
            graph.MoveOn(ref from);
            items[i] = _slot.Read(graph, ref from);
        }
    }

    /// <summary>The number of elements that are looked at in one stretch of memory.</summary>
    private static int StretchMax => Math.Max(1, (1 << 20) / Unsafe.SizeOf<T>());

    /// <summary>Returns the form in which the image holds the elements.</summary>
    private static PackedForm FormOf(GraphReader graph, long bytes)
    {
        string? slot = graph.Types.Of(typeof(T[]))?.Members.FirstOrDefault();
        return slot is not null && slot.StartsWith(SlotTexts.Packed, StringComparison.Ordinal)
            && PackedForm.Of(slot[SlotTexts.Packed.Length..], graph.Types) is { } form && bytes % form.Bytes == 0 ? form
            : throw new InvalidDataException($"The image holds a {typeof(T[])} of {bytes} bytes, which are not its elements.");
    }

    private void Unpack(GraphReader graph, ref CborReader from, T[] items)
    {
        PackedForm form = FormOf(graph, graph.ReadBytesLength(ref from));
        if (_packed is not null && form.Text == _packed.Text)
        {
            for (int at = 0, count; at < items.Length; at += count)
            {
                count = Math.Min(items.Length - at, StretchMax);
                _packed.Read(graph.ReadContent(ref from, count * form.Bytes), BytesOf(items, at, count));
            }
            return;
        }
        var element = new ArrayBufferWriter<byte>();
        for (int i = 0; i < items.Length; i++)
        {
            element.ResetWrittenCount();
            var to = new CborWriter(element);
            form.Unpack(graph.ReadContent(ref from, form.Bytes), ref to);
            to.Flush();
            var unpacked = new CborReader(element.WrittenSpan);
            items[i] = _slot.Read(graph, ref unpacked);
        }
    }

    private static Span<byte> BytesOf(T[] items, int at, int count) =>
        MemoryMarshal.CreateSpan(
            ref Unsafe.As<T, byte>(ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(items), at)), count * Unsafe.SizeOf<T>());
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
