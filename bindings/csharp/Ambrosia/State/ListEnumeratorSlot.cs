using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes an enumerator of a list that is alive over an await: the list, how far it is, its current item, and whether the list has changed
/// since. Restored lists begin with version 0, so the enumerator's is 0 or another.
/// </summary>
internal sealed class ListEnumeratorSlot<T> : Slot<List<T>.Enumerator>
{
    private readonly Slot<T> _items = (Slot<T>)Slots.Of(typeof(T));
    private readonly Slot<List<T>?> _lists = (Slot<List<T>?>)Slots.Of(typeof(List<T>));

    internal override string Describe(GraphWriter graph) => SlotTexts.Enumerator + _items.Describe(graph);

    internal override void Write(GraphWriter graph, ref CborWriter to, List<T>.Enumerator value)
    {
        List<T>? list = ListOf(ref value);
        to.WriteArrayHeader(4);
        _lists.Write(graph, ref to, list);
        to.WriteInt64(Index(ref value));
        to.WriteBoolean(list is null || Version(ref value) == ListVersion.Of(list));
        _items.Write(graph, ref to, Current(ref value));
    }

    internal override List<T>.Enumerator Read(GraphReader graph, ref CborReader from)
    {
        if (from.ReadArrayHeader() != 4) throw new InvalidDataException("The image holds an enumerator of another form.");
        var value = default(List<T>.Enumerator);
        ListOf(ref value) = _lists.Read(graph, ref from);
        int index = from.ReadInt32();
        if (index < 0) throw new InvalidDataException($"The image holds an enumerator at {index}.");
        Index(ref value) = index;
        Version(ref value) = from.ReadBoolean() ? 0 : -1;
        Current(ref value) = _items.Read(graph, ref from);
        return value;
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_list")]
    private static extern ref List<T>? ListOf(ref List<T>.Enumerator value);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_index")]
    private static extern ref int Index(ref List<T>.Enumerator value);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_version")]
    private static extern ref int Version(ref List<T>.Enumerator value);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_current")]
    private static extern ref T Current(ref List<T>.Enumerator value);

    /// <summary>Reads and clears the count of changes by which a list's enumerators notice that the list has changed.</summary>
    internal static class ListVersion
    {
        internal static int Of(List<T> list) => Field(list);

        internal static void Clear(List<T> list) => Field(list) = 0;

        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_version")]
        private static extern ref int Field(List<T> list);
    }
}
