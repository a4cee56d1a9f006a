using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes a struct of one field that stands for several elements, element by element: reflection sees the first one only. The compiler
/// keeps arguments in such structs over an await, in an interpolated string for example.
/// </summary>
internal sealed class InlineArraySlot<TArray, T> : Slot<TArray>
    where TArray : struct
{
    private static readonly int s_length = Unsafe.SizeOf<TArray>() / Unsafe.SizeOf<T>();
    private readonly Slot<T> _elements = (Slot<T>)Slots.Of(typeof(T));

    internal override void Write(GraphWriter graph, ref CborWriter to, TArray value)
    {
        to.WriteArrayHeader(s_length);
        foreach (T element in Elements(ref value)) _elements.Write(graph, ref to, element);
    }

    internal override TArray Read(GraphReader graph, ref CborReader from)
    {
        var value = default(TArray);
        if (from.ReadArrayHeader() != s_length) throw new InvalidDataException($"The image holds a {typeof(TArray)} of another length.");
        foreach (ref T element in Elements(ref value)) element = _elements.Read(graph, ref from);
        return value;
    }

    private static Span<T> Elements(ref TArray value) => MemoryMarshal.CreateSpan(ref Unsafe.As<TArray, T>(ref value), s_length);
}
