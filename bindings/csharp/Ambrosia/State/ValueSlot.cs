using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A value that is one CBOR item and refers to nothing.</summary>
internal sealed class ValueSlot<T>(WriteValue<T> write, ReadValue<T> read) : Slot<T>
{
    internal override bool StandsForItself => true;

    internal override void Write(GraphWriter graph, ref CborWriter to, T value) => write(ref to, value);

    internal override T Read(GraphReader graph, ref CborReader from) => read(ref from);
}
