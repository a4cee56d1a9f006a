using System.Collections.Immutable;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes an immutable array as the array that it wraps, by reference: two that share one still do when they are restored.
/// </summary>
internal sealed class ImmutableArraySlot<T> : Slot<ImmutableArray<T>>
{
    internal override void Write(GraphWriter graph, ref CborWriter to, ImmutableArray<T> value) =>
        graph.WriteReference(ref to, ImmutableCollectionsMarshal.AsArray(value));

    internal override ImmutableArray<T> Read(GraphReader graph, ref CborReader from) =>
        ImmutableCollectionsMarshal.AsImmutableArray(graph.ReadReference<T[]>(ref from));
}
