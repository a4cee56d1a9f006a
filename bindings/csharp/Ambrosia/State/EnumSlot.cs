using System.Collections.Concurrent;
using System.Globalization;
using System.Reflection;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;

namespace Ambrosia.State;

/// <summary>Writes an enum as its number, whatever its width. The image has the names, by which another build knows the numbers.</summary>
internal sealed class EnumSlot<T> : Slot<T>
    where T : struct, Enum
{
    private static readonly bool s_isUnsigned64 = Enum.GetUnderlyingType(typeof(T)) == typeof(ulong);
    private static readonly (Int128 Min, Int128 Max) s_range = EnumMembers.RangeOf(typeof(T));

    internal override bool StandsForItself => true;

    internal override string Describe(GraphWriter graph) => SlotTexts.OfRow(graph.Mention(typeof(T)));

    internal override void Write(GraphWriter graph, ref CborWriter to, T value)
    {
        if (s_isUnsigned64) to.WriteUInt64(Convert.ToUInt64(value));
        else to.WriteInt64(Convert.ToInt64(value));
    }

    internal override T Read(GraphReader graph, ref CborReader from)
    {
        Int128 number = from.PeekKind() == CborKind.Unsigned ? from.ReadUInt64() : from.ReadInt64();
        if (graph.Types.HasOtherNumbers && graph.Types.Of(typeof(T))?.Numbers is { } numbers) number = numbers.NumberOf(number);
        if (number < s_range.Min || number > s_range.Max)
            throw new InvalidDataException($"The image holds the number {number} of {typeof(T)}, which is too large for it now.");
        return (T)(s_isUnsigned64 ? Enum.ToObject(typeof(T), (ulong)number) : Enum.ToObject(typeof(T), (long)number));
    }
}

/// <summary>Knows the members of this build's enums, as images compare them. Any thread may call it.</summary>
internal static class EnumMembers
{
    private static readonly ConcurrentDictionary<Type, EnumMember[]> s_byType = new();

    /// <summary>Returns the numbers of this build for those of an image; null: they are equal.</summary>
    /// <exception cref="InvalidDataException">The build lacks a member, and its number is another one now.</exception>
    internal static EnumNames? Find(Type type, EnumMember[] stored) =>
        EnumNames.Find(type.ToString(), stored, s_byType.GetOrAdd(type, Members), type.IsDefined(typeof(FlagsAttribute), inherit: false));

    internal static (Int128 Min, Int128 Max) RangeOf(Type type) => Type.GetTypeCode(type) switch
    {
        TypeCode.SByte => (sbyte.MinValue, sbyte.MaxValue),
        TypeCode.Byte => (0, byte.MaxValue),
        TypeCode.Int16 => (short.MinValue, short.MaxValue),
        TypeCode.UInt16 or TypeCode.Char => (0, ushort.MaxValue),
        TypeCode.Int32 => (int.MinValue, int.MaxValue),
        TypeCode.UInt32 => (0, uint.MaxValue),
        TypeCode.UInt64 => (0, ulong.MaxValue),
        _ => (long.MinValue, long.MaxValue),
    };

    private static EnumMember[] Members(Type type) =>
    [
        .. type.GetFields(BindingFlags.Static | BindingFlags.Public).Select(static field => new EnumMember(
            field.Name, NumberOf(field.GetRawConstantValue()!),
            [.. field.GetCustomAttributes<FormerlyNamedAttribute>(inherit: false).Select(static each => each.Name)])),
    ];

    private static Int128 NumberOf(object number) =>
        number is ulong large ? large : Convert.ToInt64(number, CultureInfo.InvariantCulture);
}
