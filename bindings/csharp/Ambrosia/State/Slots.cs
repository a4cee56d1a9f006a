using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
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

    /// <summary>Returns what the table of types says of values that stand for themselves; null for those of other types.</summary>
    internal static string? TextOf(Type type) =>
        s_byType.TryGetValue(type, out Slot? slot) ? slot.Text : null;

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
            : ObjectShapes.IsOfSystem(type) && ObjectShapes.HowOf(type) != Kept.Fields ? throw new NotWritableException($"{type} cannot be written")
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

    private static Dictionary<Type, Slot> Primitives()
    {
        var all = new Dictionary<Type, Slot>();
        Integers(all);
        Add<bool>(all, "b", static (ref to, value) => to.WriteBoolean(value), static (ref from) => from.ReadBoolean());
        Add<float>(all, "f4", static (ref to, value) => to.WriteUInt64(BitConverter.SingleToUInt32Bits(value)),
            static (ref from) => BitConverter.UInt32BitsToSingle(from.ReadUInt32()));
        Add<double>(all, "f8", static (ref to, value) => to.WriteUInt64(BitConverter.DoubleToUInt64Bits(value)),
            static (ref from) => BitConverter.UInt64BitsToDouble(from.ReadUInt64()));
        Add<decimal>(all, "d", static (ref to, value) => to.WriteDecimal(value), static (ref from) => from.ReadDecimal());
        Add<DateTime>(all, "td", static (ref to, value) => to.WriteDateTime(value), static (ref from) => from.ReadDateTime());
        Add<DateTimeOffset>(all, "to", static (ref to, value) => to.WriteDateTimeOffset(value),
            static (ref from) => from.ReadDateTimeOffset());
        Add<TimeSpan>(all, "ts", static (ref to, value) => to.WriteInt64(value.Ticks), static (ref from) => new TimeSpan(from.ReadInt64()));
        Add<DateOnly>(all, "dd", static (ref to, value) => to.WriteDateOnly(value), static (ref from) => from.ReadDateOnly());
        Add<TimeOnly>(all, "dt", static (ref to, value) => to.WriteTimeOnly(value), static (ref from) => from.ReadTimeOnly());
        Add<Half>(all, "f2", static (ref to, value) => to.WriteUInt64(BitConverter.HalfToUInt16Bits(value)),
            static (ref from) => BitConverter.UInt16BitsToHalf(from.ReadUInt16()));
        Add<Guid>(all, "g", static (ref to, value) => to.WriteGuid(value), static (ref from) => from.ReadGuid());
        Add<string?>(all, "s", Texts.Write, Texts.Read);
        return all;
    }

    private static void Integers(Dictionary<Type, Slot> all)
    {
        Add<byte>(all, "u1", static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadByte());
        Add<sbyte>(all, "i1", static (ref to, value) => to.WriteInt64(value), static (ref from) => from.ReadSByte());
        Add<short>(all, "i2", static (ref to, value) => to.WriteInt64(value), static (ref from) => from.ReadInt16());
        Add<ushort>(all, "u2", static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadUInt16());
        Add<int>(all, "i4", static (ref to, value) => to.WriteInt64(value), static (ref from) => from.ReadInt32());
        Add<uint>(all, "u4", static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadUInt32());
        Add<long>(all, "i8", static (ref to, value) => to.WriteInt64(value), static (ref from) => from.ReadInt64());
        Add<ulong>(all, "u8", static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadUInt64());
        Add<char>(all, "c", static (ref to, value) => to.WriteUInt64(value), static (ref from) => from.ReadChar());
        Add<Int128>(all, "i16", static (ref to, value) => Wide(ref to, (UInt128)value), static (ref from) => (Int128)Wide(ref from));
        Add<UInt128>(all, "u16", Wide, Wide);
        Add<nint>(all, "i8", static (ref to, value) => to.WriteInt64(value), static (ref from) => checked((nint)from.ReadInt64()));
        Add<nuint>(all, "u8", static (ref to, value) => to.WriteUInt64(value), static (ref from) => checked((nuint)from.ReadUInt64()));
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

    private static void Add<T>(Dictionary<Type, Slot> all, string text, WriteValue<T> write, ReadValue<T> read) =>
        all.Add(typeof(T), new ValueSlot<T>(text, write, read));
}

/// <summary>It lists what the table of types says of places that are not one number, text or date.</summary>
internal static class SlotTexts
{
    internal const string Reference = "@", Opaque = "!", NeverWritten = "-";

    /// <summary>The prefixes of an element: null or one, several in place, an enumerator of a list, all as one byte string.</summary>
    internal const string Nullable = "?", Several = "*", Enumerator = "~", Packed = "=";

    /// <summary>Returns how the table refers to a value in place whose type has this row.</summary>
    internal static string OfRow(int row) => string.Create(System.Globalization.CultureInfo.InvariantCulture, $"#{row}");
}

/// <summary>
/// Writes an immutable array as the array that it wraps, by reference: two that share one still do when they are restored.
/// </summary>
internal sealed class ImmutableArraySlot<T> : Slot<ImmutableArray<T>>
{
    internal override string Describe(GraphWriter graph) => SlotTexts.Reference;

    internal override void Write(GraphWriter graph, ref CborWriter to, ImmutableArray<T> value) =>
        graph.WriteReference(ref to, ImmutableCollectionsMarshal.AsArray(value));

    internal override ImmutableArray<T> Read(GraphReader graph, ref CborReader from)
    {
        T[]? array = graph.ReadReference<T[]>(ref from);
        return array is { Length: 0 } ? ImmutableArray<T>.Empty // two are equal by the array that they wrap
            : ImmutableCollectionsMarshal.AsImmutableArray(array);
    }
}

/// <summary>
/// Writes a struct of one field that stands for several elements, element by element: reflection sees the first one only. The compiler
/// keeps arguments in such structs over an await, in an interpolated string for example.
/// </summary>
internal sealed class InlineArraySlot<TArray, T> : Slot<TArray>
    where TArray : struct
{
    private static readonly int s_length = Unsafe.SizeOf<TArray>() / Unsafe.SizeOf<T>();
    private readonly Slot<T> _elements = (Slot<T>)Slots.Of(typeof(T));

    internal override string Describe(GraphWriter graph) => SlotTexts.Several + _elements.Describe(graph);

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

/// <summary>Writes null or the value; a struct's value is an array, so the two never look alike.</summary>
internal sealed class NullableSlot<T> : Slot<T?>
    where T : struct
{
    private readonly Slot<T> _value = (Slot<T>)Slots.Of(typeof(T));

    internal override string Describe(GraphWriter graph) => SlotTexts.Nullable + _value.Describe(graph);

    internal override void Write(GraphWriter graph, ref CborWriter to, T? item)
    {
        if (item is null) to.WriteNull();
        else if (_value is SerializedSlot<T> own) own.WriteSomething(graph, ref to, item.Value);
        else _value.Write(graph, ref to, item.Value);
    }

    internal override T? Read(GraphReader graph, ref CborReader from) => from.TryReadNull() ? null : _value.Read(graph, ref from);
}

/// <summary>Writes a struct as the app's serializer says.</summary>
internal sealed class SerializedSlot<T>(IStateSerializer<T> serializer) : Slot<T>
    where T : struct
{
    internal override bool StandsForItself => true;

    internal override string Describe(GraphWriter graph) => SlotTexts.Opaque;

    internal override void Write(GraphWriter graph, ref CborWriter to, T value) => SerializedItem.Write(graph, ref to, value, serializer);

    /// <summary>Writes a value where null says that there is none.</summary>
    internal void WriteSomething(GraphWriter graph, ref CborWriter to, T value) =>
        SerializedItem.Write(graph, ref to, value, serializer, mayBeNull: false);

    internal override T Read(GraphReader graph, ref CborReader from) => SerializedItem.Read(ref from, serializer);
}

/// <summary>
/// Writes a struct in place as an array of its fields. It is always an array, even of no fields or with a null in front, so that it never
/// looks like null.
/// </summary>
internal sealed class StructSlot<T> : Slot<T>
    where T : struct
{
    private readonly FieldPlan _plan = FieldPlan.Of(typeof(T));

    internal override bool IsOfFields => true;

    internal override string Describe(GraphWriter graph) => SlotTexts.OfRow(graph.Mention(typeof(T)));

    internal override void Write(GraphWriter graph, ref CborWriter to, T value)
    {
        if (!_plan.TryWrite(graph, ref to, value)) _plan.Write(graph, ref to, value);
    }

    internal override T Read(GraphReader graph, ref CborReader from)
    {
        FieldPlan named = graph.PlanOf(typeof(T));
        var value = default(T);
        if (named.TryRead(graph, ref from, ref value)) return value;
        object box = value;
        named.Read(graph, ref from, box);
        return (T)box;
    }
}
