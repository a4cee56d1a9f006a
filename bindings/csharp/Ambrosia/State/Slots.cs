using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Keeps the slots of all types that an image can hold in place, one for each type, made at first use. Any thread may call it.
/// </summary>
internal static class Slots
{
    private static readonly ConcurrentDictionary<Type, Slot> s_byType = new(Primitives());

    /// <exception cref="NotWritableException">Values of this type cannot be part of an image.</exception>
    internal static Slot Of(Type type) => s_byType.TryGetValue(type, out Slot? known) ? known : s_byType.GetOrAdd(type, Make(type));

    private const int WideBytes = 16;

    private const System.Reflection.BindingFlags AnyField = System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.Public
        | System.Reflection.BindingFlags.NonPublic;

    /// <summary>Says whether values of the type stand for themselves: boxed ones are written like any other object.</summary>
    internal static bool IsPrimitive(Type type) =>
        type.IsEnum || (s_byType.TryGetValue(type, out Slot? slot) && slot.GetType().GetGenericTypeDefinition() == typeof(ValueSlot<>));

    private static Slot Make(Type type)
    {
        if (!IsWritableInPlace(type)) throw new NotWritableException($"{type} cannot be written");
        if (type.IsValueType && StateSerializers.Of(type) is { } serializer)
            return (Slot)Activator.CreateInstance(typeof(SerializedSlot<>).MakeGenericType(type), serializer)!;
        Type slot = !type.IsValueType ? typeof(ReferenceSlot<>).MakeGenericType(type)
            : type.IsEnum ? typeof(EnumSlot<>).MakeGenericType(type)
            : Nullable.GetUnderlyingType(type) is { } inner ? typeof(NullableSlot<>).MakeGenericType(inner)
            : type.IsGenericType && type.GetGenericTypeDefinition() == typeof(List<>.Enumerator)
                ? typeof(ListEnumeratorSlot<>).MakeGenericType(type.GetGenericArguments())
            : type.IsGenericType && type.GetGenericTypeDefinition() == typeof(ImmutableArray<>)
                ? typeof(ImmutableArraySlot<>).MakeGenericType(type.GetGenericArguments())
            : type.IsDefined(typeof(InlineArrayAttribute), inherit: false)
                ? typeof(InlineArraySlot<,>).MakeGenericType(type, type.GetFields(AnyField)[0].FieldType)
            : ObjectShapes.IsOfSystem(type) && !IsPlainOfSystem(type) ? throw new NotWritableException($"{type} cannot be written")
            : typeof(StructSlot<>).MakeGenericType(type);
        return (Slot)Activator.CreateInstance(slot, nonPublic: true)!;
    }

    /// <summary>
    /// Says whether a value of the type is all in its place: it points nowhere, does not live on the stack, and holds no more than its
    /// fields tell.
    /// </summary>
    private static bool IsWritableInPlace(Type type) =>
        !type.IsPointer && !type.IsFunctionPointer && !type.IsByRefLike
        && !type.IsDefined(typeof(UnsafeValueTypeAttribute), inherit: false);

    /// <summary>Says whether the type is a struct of the framework that is nothing but its fields.</summary>
    private static bool IsPlainOfSystem(Type type) =>
        type.IsGenericType
        && (type.GetGenericTypeDefinition() == typeof(KeyValuePair<,>)
            || type.FullName!.StartsWith("System.ValueTuple`", StringComparison.Ordinal));

    private static Dictionary<Type, Slot> Primitives()
    {
        var all = new Dictionary<Type, Slot>();
        Integers(all);
        Add<bool>(all, static (ref to, value) => to.WriteBoolean(value), static (ref from) => from.ReadBoolean());
        Add<float>(all, static (ref to, value) => to.WriteUInt64(BitConverter.SingleToUInt32Bits(value)),
            static (ref from) => BitConverter.UInt32BitsToSingle(from.ReadUInt32()));
        Add<double>(all, static (ref to, value) => to.WriteUInt64(BitConverter.DoubleToUInt64Bits(value)),
            static (ref from) => BitConverter.UInt64BitsToDouble(from.ReadUInt64()));
        Add<decimal>(all, static (ref to, value) => to.WriteDecimal(value), static (ref from) => from.ReadDecimal());
        Add<DateTime>(all, static (ref to, value) => to.WriteDateTime(value), static (ref from) => from.ReadDateTime());
        Add<DateTimeOffset>(all, static (ref to, value) => to.WriteDateTimeOffset(value), static (ref from) => from.ReadDateTimeOffset());
        Add<TimeSpan>(all, static (ref to, value) => to.WriteInt64(value.Ticks), static (ref from) => new TimeSpan(from.ReadInt64()));
        Add<DateOnly>(all, static (ref to, value) => to.WriteDateOnly(value), static (ref from) => from.ReadDateOnly());
        Add<TimeOnly>(all, static (ref to, value) => to.WriteTimeOnly(value), static (ref from) => from.ReadTimeOnly());
        Add<Half>(all, static (ref to, value) => to.WriteUInt64(BitConverter.HalfToUInt16Bits(value)),
            static (ref from) => BitConverter.UInt16BitsToHalf(from.ReadUInt16()));
        Add<Guid>(all, static (ref to, value) => to.WriteGuid(value), static (ref from) => from.ReadGuid());
        Add<string?>(all, Texts.Write, Texts.Read);
        return all;
    }

    private static void Integers(Dictionary<Type, Slot> all)
    {
        Add<byte>(all, static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadByte());
        Add<sbyte>(all, static (ref to, value) => to.WriteInt64(value), static (ref from) => from.ReadSByte());
        Add<short>(all, static (ref to, value) => to.WriteInt64(value), static (ref from) => from.ReadInt16());
        Add<ushort>(all, static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadUInt16());
        Add<int>(all, static (ref to, value) => to.WriteInt64(value), static (ref from) => from.ReadInt32());
        Add<uint>(all, static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadUInt32());
        Add<long>(all, static (ref to, value) => to.WriteInt64(value), static (ref from) => from.ReadInt64());
        Add<ulong>(all, static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadUInt64());
        Add<char>(all, static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadChar());
        Add<Int128>(all, static (ref to, value) => Wide(ref to, (UInt128)value), static (ref from) => (Int128)Wide(ref from));
        Add<UInt128>(all, Wide, Wide);
        Add<nint>(all, static (ref to, value) => to.WriteInt64(value), static (ref from) => checked((nint)from.ReadInt64()));
        Add<nuint>(all, static (ref to, value) => to.WriteUInt64(value), static (ref from) => checked((nuint)from.ReadUInt64()));
    }

    /// <summary>Writes a number as 16 bytes, the high ones first.</summary>
    private static void Wide(ref CborWriter to, UInt128 value)
    {
        Span<byte> bytes = stackalloc byte[WideBytes];
        BinaryPrimitives.WriteUInt128BigEndian(bytes, value);
        to.WriteBytes(bytes);
    }

    private static UInt128 Wide(ref CborReader from)
    {
        ReadOnlySpan<byte> bytes = from.ReadBytes();
        return bytes.Length == WideBytes ? BinaryPrimitives.ReadUInt128BigEndian(bytes)
            : throw new InvalidDataException($"The image holds a number of {bytes.Length} bytes where {WideBytes} belong.");
    }

    private static void Add<T>(Dictionary<Type, Slot> all, WriteValue<T> write, ReadValue<T> read) =>
        all.Add(typeof(T), new ValueSlot<T>(write, read));
}
