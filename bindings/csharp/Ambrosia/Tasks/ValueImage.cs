using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.State;

namespace Ambrosia.Tasks;

/// <summary>
/// Writes and reads a task's argument or result as one CBOR item (log-format L5.9). What stands for itself is written directly, everything
/// else as an object graph of its own, [types, objects, value], by the rules of the state's image. Any thread: the value belongs to nobody
/// else meanwhile.
/// </summary>
internal static class ValueImage
{
    /// <exception cref="NotWritableException">It cannot be part of an image.</exception>
    internal static void Write<T>(IBufferWriter<byte> target, T value)
    {
        var to = new CborWriter(target);
        if (typeof(T) == typeof(Nothing)) to.WriteNull();
        else if (value is byte[] bytes && typeof(T) == typeof(byte[])) to.WriteBytes(bytes);
        else if (Slots.IsPrimitive(typeof(T))) ((Slot<T>)Slots.Of(typeof(T))).Write(new GraphWriter(), ref to, value);
        else WriteGraph(ref to, value);
        to.Flush();
    }

    /// <exception cref="CborException">It is no item of the type.</exception>
    /// <exception cref="InvalidDataException">It does not fit the types of this app.</exception>
    internal static T Read<T>(ReadOnlySpan<byte> item, AttachProxy attach)
    {
        var from = new CborReader(item);
        if (typeof(T) == typeof(Nothing)) return default!;
        if (typeof(T) == typeof(byte[]) && from.PeekKind() == CborKind.Bytes) return (T)(object)from.ReadBytes().ToArray();
        var graph = new GraphReader(attach);
        if (!Slots.IsPrimitive(typeof(T)))
        {
            int items = from.ReadArrayHeader();
            if (items != 3) throw new InvalidDataException($"a value of {items} items where its types, its objects and itself are due");
            graph.ReadAllOf(ref from);
        }
        return ((Slot<T>)Slots.Of(typeof(T))).Read(graph, ref from);
    }

    private static void WriteGraph<T>(ref CborWriter to, T value)
    {
        var graph = new GraphWriter();
        var root = new ArrayBufferWriter<byte>();
        var rootTo = new CborWriter(root);
        var slot = (Slot<T>)Slots.Of(typeof(T));
        slot.Describe(graph); // enters the types of a value in place
        slot.Write(graph, ref rootTo, value);
        rootTo.Flush();
        graph.WriteAll();
        to.WriteArrayHeader(3);
        graph.CopyTo(ref to);
        to.WriteEncoded(root.WrittenSpan);
        graph.Free();
    }
}
