using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>Writes a value as one CBOR item.</summary>
internal delegate void WriteValue<in T>(ref CborWriter to, T value);

/// <summary>Reads what <see cref="WriteValue{T}"/> wrote.</summary>
internal delegate T ReadValue<out T>(ref CborReader from);

/// <summary>
/// Writes and reads the places of one static type in an image, such as a field or an element: values in place, references by the id of
/// their object. One slot serves all images, on any thread.
/// </summary>
internal abstract class Slot
{
    /// <summary>True when a value refers to nothing, so that it can be read before there are objects.</summary>
    internal virtual bool StandsForItself => false;

    /// <summary>The slot of a number, text or date in the table of types; null: <see cref="Describe"/> alone knows.</summary>
    internal virtual string? Text => null;

    /// <summary>True when a value is an array of the fields of its struct.</summary>
    internal virtual bool IsOfFields => false;

    /// <summary>
    /// Returns what an image's table of types says of such a place (docs/image.md); it enters the types that the value is made of.
    /// </summary>
    internal abstract string Describe(GraphWriter graph);

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

/// <summary>Writes a reference as null or as the id of the object, which is written elsewhere in the image, once.</summary>
internal sealed class ReferenceSlot<T> : Slot<T?>
    where T : class
{
    internal override string Describe(GraphWriter graph) => SlotTexts.Reference;

    internal override void Write(GraphWriter graph, ref CborWriter to, T? value) => graph.WriteReference(ref to, value);

    internal override T? Read(GraphReader graph, ref CborReader from) => graph.ReadReference<T>(ref from);
}

/// <summary>Writes a value that is one CBOR item and refers to nothing.</summary>
/// <param name="text">What the table of types says of it.</param>
internal sealed class ValueSlot<T>(string text, WriteValue<T> write, ReadValue<T> read) : Slot<T>
{
    internal override bool StandsForItself => true;

    internal override string Text => text;

    internal override string Describe(GraphWriter graph) => text;

    internal override void Write(GraphWriter graph, ref CborWriter to, T value) => write(ref to, value);

    internal override T Read(GraphReader graph, ref CborReader from) => read(ref from);
}

/// <summary>Keeps the slot of a type that generated code knows, which is made at first use.</summary>
internal static class SlotOf<T>
{
    private static Slot<T>? s_slot;

    /// <exception cref="NotWritableException">Values of this type cannot be part of an image.</exception>
    internal static Slot<T> Get() => s_slot ??= (Slot<T>)Slots.Of(typeof(T));
}
