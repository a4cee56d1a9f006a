using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;

namespace Ambrosia.State;

/// <summary>
/// Says where in the memory of a value of this build the bytes of its packed form lie (<see cref="PackedForm"/>), so that an array of such
/// values is written and read by copying. Types of which the state is all of numbers have one. The memory between the fields is never
/// read: equal values give equal bytes.
/// </summary>
internal sealed class PackedLayout
{
    /// <summary>The packed bytes that are gathered before they are written, where they do not lie side by side in memory.</summary>
    private const int GatherBytes = 32 << 10;

    private readonly List<(int Offset, int Bytes)> _runs = [];
    private readonly StringBuilder _text = new();

    private PackedLayout(int stride) => Stride = stride;

    /// <summary>The size of a value in memory, in bytes.</summary>
    internal int Stride { get; }

    /// <summary>The size of a packed value in bytes.</summary>
    internal int Bytes { get; private set; }

    /// <summary>The packed form, in the words of <see cref="PackedForm.Text"/>.</summary>
    internal string Text => _text.ToString();

    /// <summary>True if the packed form of a value is all of its memory, as it stands.</summary>
    internal bool IsWhole => _runs.Count == 1 && _runs[0].Bytes == Stride;

    /// <summary>Returns the layout of a type; null where its values do not consist of numbers alone.</summary>
    internal static PackedLayout? Of<T>()
    {
        if (!BitConverter.IsLittleEndian || RuntimeHelpers.IsReferenceOrContainsReferences<T>()) return null;
        var layout = new PackedLayout(Unsafe.SizeOf<T>());
        return layout.TryAdd(typeof(T), 0) && layout.Bytes > 0 ? layout : null;
    }

    /// <summary>Writes values that lie one behind another in memory, as the content of a byte string.</summary>
    internal void Write(GraphWriter graph, ref CborWriter to, ReadOnlySpan<byte> values)
    {
        if (IsWhole)
        {
            graph.WriteContent(ref to, values);
            return;
        }
        Span<byte> gathered = stackalloc byte[GatherBytes];
        int valuesMax = Math.Max(1, GatherBytes / Bytes);
        if (Bytes > GatherBytes) gathered = new byte[Bytes];
        while (values.Length > 0)
        {
            int count = Math.Min(valuesMax, values.Length / Stride);
            Gather(values[..(count * Stride)], gathered);
            graph.WriteContent(ref to, gathered[..(count * Bytes)]);
            values = values[(count * Stride)..];
        }
    }

    /// <summary>Reads packed values into the memory of values that lie one behind another.</summary>
    internal void Read(ReadOnlySpan<byte> packed, Span<byte> values)
    {
        if (IsWhole)
        {
            packed.CopyTo(values);
            return;
        }
        for (; values.Length > 0; values = values[Stride..])
        {
            foreach ((int offset, int bytes) in _runs)
            {
                packed[..bytes].CopyTo(values[offset..]);
                packed = packed[bytes..];
            }
        }
    }

    private void Gather(ReadOnlySpan<byte> values, Span<byte> to)
    {
        for (; values.Length > 0; values = values[Stride..])
        {
            foreach ((int offset, int bytes) in _runs)
            {
                values.Slice(offset, bytes).CopyTo(to);
                to = to[bytes..];
            }
        }
    }

    private bool TryAdd(Type type, int offset)
    {
        if (type.IsEnum) type = Enum.GetUnderlyingType(type);
        if (NumberOf(type) is { } number)
        {
            Add(offset, PackedNumbers.BytesOf(number));
            _text.Append(number).Append(' ');
            return true;
        }
        if (!IsPlainStruct(type)) return false;
        _text.Append('(');
        FieldInfo[] fields = StateFields.Of(type);
        for (int i = 0; i < fields.Length; i++)
        {
            _text.Append(StateFields.NamesOf(type)[i]).Append(':');
            if (!TryAdd(fields[i].FieldType, offset + OffsetOf(type, fields[i]))) return false;
        }
        _text.Append(')');
        return true;
    }

    private void Add(int offset, int bytes)
    {
        Bytes += bytes;
        if (_runs.Count > 0 && _runs[^1] is var last && last.Offset + last.Bytes == offset) _runs[^1] = (last.Offset, last.Bytes + bytes);
        else _runs.Add((offset, bytes));
    }

    /// <summary>Returns the slot of a number whose packed form is its memory; null: the type is none.</summary>
    private static string? NumberOf(Type type) =>
        type != typeof(nint) && type != typeof(nuint) && type.IsValueType
        && Slots.TextOf(type) is { } text && PackedNumbers.BytesOf(text) > 0 ? text : null;

    private static bool IsPlainStruct(Type type) =>
        type.IsValueType && !type.IsExplicitLayout && FieldPlan.Of(type) is { IsSuspendedMethod: false }
        && Slots.Of(type).IsOfFields;

    /// <summary>Finds the place of a field in the memory of its struct: the first byte that changes with it.</summary>
    private static int OffsetOf(Type type, FieldInfo field)
    {
        object box = RuntimeHelpers.GetUninitializedObject(type), ones = RuntimeHelpers.GetUninitializedObject(field.FieldType);
        Boxes.BytesOf(ones).Fill(byte.MaxValue);
        field.SetValue(box, ones);
        return Boxes.BytesOf(box).IndexOfAnyExcept((byte)0) is >= 0 and { } offset ? offset
            : throw new PlatformNotSupportedException($"the place of {field.Name} in {type} cannot be found");
    }
}

/// <summary>Reaches the memory of values in boxes.</summary>
internal static class Boxes
{
    /// <summary>Returns a reference to the value inside its box. <c>Unsafe.Unbox</c> would want T to be a struct at compile time.</summary>
    internal static ref T In<T>(object box)
    {
        if (box is not T) throw new InvalidCastException($"{box.GetType()} is no {typeof(T)}");
        return ref Unsafe.As<byte, T>(ref Unsafe.As<Box>(box).FirstByte);
    }

    /// <summary>Returns the bytes of a boxed value without references.</summary>
    internal static Span<byte> BytesOf(object box) =>
        MemoryMarshal.CreateSpan(ref Unsafe.As<Box>(box).FirstByte,
            (int)typeof(Unsafe).GetMethod(nameof(Unsafe.SizeOf))!.MakeGenericMethod(box.GetType()).Invoke(null, null)!);

    private sealed class Box
    {
        internal byte FirstByte;
    }
}
