namespace Ambrosia;

/// <summary>The slot of a type that generated code knows; made at first use.</summary>
internal static class SlotOf<T>
{
    private static Slot<T>? slot;

    /// <exception cref="NotWritableException">Values of this type cannot be part of an image.</exception>
    internal static Slot<T> Get() => slot ??= (Slot<T>)Slots.Of(typeof(T));
}
