using Ambrosia.Protocol;

namespace Ambrosia;

internal delegate void WriteValue<in T>(ref CborWriter to, T value);

internal delegate T ReadValue<out T>(ref CborReader from);

/// <summary>
/// How a place of one static type (a field, an element) stands in an image: values in place, references by the id of their object.
/// </summary>
internal abstract class Slot
{
    /// <summary>A value refers to nothing, so it can be read before there are objects.</summary>
    internal virtual bool StandsForItself => false;

    internal abstract void WriteBoxed(GraphWriter graph, ref CborWriter to, object? value);

    internal abstract object? ReadBoxed(GraphReader graph, ref CborReader from);
}

/// <inheritdoc/>
internal abstract class Slot<T> : Slot
{
    internal abstract void Write(GraphWriter graph, ref CborWriter to, T value);

    internal abstract T Read(GraphReader graph, ref CborReader from);

    internal sealed override void WriteBoxed(GraphWriter graph, ref CborWriter to, object? value) => Write(graph, ref to, (T)value!);

    internal sealed override object? ReadBoxed(GraphReader graph, ref CborReader from) => Read(graph, ref from);
}
