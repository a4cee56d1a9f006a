using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>Writes an enum as its number, whatever its width.</summary>
internal sealed class EnumSlot<T> : Slot<T>
    where T : struct, Enum
{
    private static readonly bool s_isUnsigned64 = Enum.GetUnderlyingType(typeof(T)) == typeof(ulong);

    internal override bool StandsForItself => true;

    internal override void Write(GraphWriter graph, ref CborWriter to, T value)
    {
        if (s_isUnsigned64) to.WriteUInt64(Convert.ToUInt64(value));
        else to.WriteInt64(Convert.ToInt64(value));
    }

    internal override T Read(GraphReader graph, ref CborReader from) =>
        (T)(s_isUnsigned64 ? Enum.ToObject(typeof(T), from.ReadUInt64()) : Enum.ToObject(typeof(T), from.ReadInt64()));
}
