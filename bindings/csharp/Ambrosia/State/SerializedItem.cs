using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>Calls an app's serializer and holds it to its promise: one CBOR item, which it reads to its end.</summary>
internal static class SerializedItem
{
    /// <exception cref="NotWritableException">The serializer threw, or wrote something else than one item.</exception>
    internal static void Write<T>(GraphWriter graph, ref CborWriter to, T value, IStateSerializer<T> serializer, bool mayBeNull = true)
    {
        var item = new ArrayBufferWriter<byte>();
        try
        {
            var own = new CborWriter(item);
            serializer.Write(ref own, value);
            own.Flush();
        }
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            throw graph.CannotWrite(typeof(T), $": its serializer {serializer.GetType()} threw {e.GetType()}: {e.Message}. It");
        }
        if (!IsOneItem(item.WrittenSpan))
            throw graph.CannotWrite(typeof(T), $": its serializer {serializer.GetType()} wrote something else than one CBOR item. It");
        if (!mayBeNull && new CborReader(item.WrittenSpan).TryReadNull())
            throw graph.CannotWrite(typeof(T),
                $": its serializer {serializer.GetType()} wrote null, which says that there is no value; let it write something else. It");
        to.WriteEncoded(item.WrittenSpan);
    }

    /// <exception cref="InvalidDataException">The serializer threw, gave nothing, or left something.</exception>
    internal static T Read<T>(ref CborReader from, IStateSerializer<T> serializer)
    {
        var own = new CborReader(from.ReadEncoded());
        T value;
        try
        {
            value = serializer.Read(ref own);
        }
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            throw new InvalidDataException($"its serializer {serializer.GetType()} threw {e.GetType()}: {e.Message}", e);
        }
        return value is not null && own.AtEnd ? value
            : throw new InvalidDataException(
                $"The serializer {serializer.GetType()} did not read the {typeof(T)} in the image to its end.");
    }

    private static bool IsOneItem(ReadOnlySpan<byte> bytes)
    {
        try
        {
            var check = new CborReader(bytes);
            check.Skip();
            return check.AtEnd;
        }
        catch (CborException)
        {
            return false;
        }
    }
}
