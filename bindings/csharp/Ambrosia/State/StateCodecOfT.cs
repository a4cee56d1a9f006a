using System.ComponentModel;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <inheritdoc/>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class StateCodec<T> : StateCodec
{
    /// <summary>Writes all fields: one item each, in the order of <see cref="StateCodec.Names"/>, without a head.</summary>
    public abstract void Write(GraphWriter graph, ref CborWriter to, T value);

    /// <summary>
    /// Reads one item for each of <paramref name="fields"/>, which are places in <see cref="StateCodec.Names"/>; the item of any other
    /// number is skipped.
    /// </summary>
    public abstract void Read(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, ref T value);

    internal sealed override Type Type => typeof(T);

    internal sealed override void WriteBoxed(GraphWriter graph, ref CborWriter to, object instance) => Write(graph, ref to, (T)instance);

    internal sealed override void ReadBoxed(GraphReader graph, ref CborReader from, ReadOnlySpan<int> fields, object instance)
    {
        if (typeof(T).IsValueType) Read(graph, ref from, fields, ref UnboxedIn(instance));
        else
        {
            var target = (T)instance;
            Read(graph, ref from, fields, ref target);
        }
    }

    /// <summary>Returns a reference to the value inside its box. <c>Unsafe.Unbox</c> would want T to be a struct at compile time.</summary>
    private static ref T UnboxedIn(object box)
    {
        if (box is not T) throw new InvalidCastException($"{box.GetType()} is no {typeof(T)}");
        return ref Unsafe.As<byte, T>(ref Unsafe.As<Box>(box).FirstByte);
    }

    private sealed class Box
    {
        internal byte FirstByte;
    }
}
