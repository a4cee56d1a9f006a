using System.Buffers.Binary;
using System.Text;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// Options are what a hello or welcome says behind its fields (protocol P2.7). They are numbered, and a receiver passes over those that it
/// does not know, so that whoever is newer can speak to whoever is older.
/// </summary>
public sealed class HelloOptions : IEquatable<HelloOptions>
{
    /// <summary>There are at most so many, each value has at most so many bytes, and all values together at most so many.</summary>
    public const int CountMax = 16, ValueBytesMax = 256, ValuesBytesMax = 1024;

    private readonly (ulong Type, ReadOnlyMemory<byte> Value)[] _inOrder;

    private HelloOptions((ulong Type, ReadOnlyMemory<byte> Value)[] inOrder) => _inOrder = inOrder;

    public static HelloOptions None { get; } = new([]);

    /// <summary>The most bytes that they take in a payload.</summary>
    public static int BytesMax => Varint.BytesMax * (1 + CountMax) + CountMax * 2 + ValuesBytesMax;

    /// <exception cref="ArgumentException">A limit is broken, or two have one type.</exception>
    public static HelloOptions Of(params IEnumerable<(ulong Type, ReadOnlyMemory<byte> Value)> options)
    {
        (ulong Type, ReadOnlyMemory<byte> Value)[] inOrder = [.. options.OrderBy(static option => option.Type)];
        return WhatIsWrong(inOrder) is { } wrong ? throw new ArgumentException(wrong, nameof(options)) : new HelloOptions(inOrder);
    }

    /// <summary>Returns the value of an option that is a number.</summary>
    internal static byte[] ValueOf(uint number)
    {
        var value = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32LittleEndian(value, number);
        return value;
    }

    /// <summary>Returns the value of an option that is a number.</summary>
    internal static byte[] ValueOf(ulong number)
    {
        var value = new byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(value, number);
        return value;
    }

    /// <summary>Returns these options, but for one.</summary>
    /// <param name="value">Null: it is not among them.</param>
    internal HelloOptions With(ulong type, byte[]? value)
    {
        IEnumerable<(ulong, ReadOnlyMemory<byte>)> rest = _inOrder.Where(option => option.Type != type);
        return Of(value is null ? rest : rest.Append((type, value)));
    }

    /// <summary>Returns the value of an option; null: it is not there.</summary>
    public ReadOnlyMemory<byte>? this[ulong type]
    {
        get
        {
            foreach ((ulong each, ReadOnlyMemory<byte> value) in _inOrder) if (each == type) return value;
            return null;
        }
    }

    public void Write(ref PayloadWriter to)
    {
        to.Varint((ulong)_inOrder.Length);
        foreach ((ulong type, ReadOnlyMemory<byte> value) in _inOrder)
        {
            to.Varint(type);
            to.Bytes(value.Span, ValueBytesMax);
        }
    }

    /// <exception cref="ProtocolViolation">P2.7.</exception>
    public static HelloOptions Read(ref PayloadReader from)
    {
        int count = from.Count(entryBytesMin: 2);
        if (count == 0) return None;
        if (count > CountMax) throw from.Violation("P2.7", $"{count} options, {CountMax} at most");
        var options = new (ulong Type, ReadOnlyMemory<byte> Value)[count];
        foreach (ref (ulong Type, ReadOnlyMemory<byte> Value) option in options.AsSpan())
            option = (from.Varint(), from.Bytes(ValueBytesMax).ToArray());
        return WhatIsWrong(options) is { } wrong ? throw from.Violation("P2.7", wrong) : new HelloOptions(options);
    }

    private static string? WhatIsWrong((ulong Type, ReadOnlyMemory<byte> Value)[] options)
    {
        if (options.Length > CountMax) return $"{options.Length} options, {CountMax} at most";
        for (int i = 1; i < options.Length; i++)
            if (options[i].Type <= options[i - 1].Type) return $"option {options[i].Type} stands behind option {options[i - 1].Type}";
        if (options.FirstOrDefault(static option => option.Value.Length > ValueBytesMax) is { Value.Length: > 0 } longest)
            return $"option {longest.Type} has {longest.Value.Length} bytes, {ValueBytesMax} at most";
        long bytes = options.Sum(static option => (long)option.Value.Length);
        return bytes > ValuesBytesMax ? $"options of {bytes} bytes, {ValuesBytesMax} at most" : null;
    }

    public bool Equals(HelloOptions? other)
    {
        if (other is null || other._inOrder.Length != _inOrder.Length) return false;
        return _inOrder.Zip(other._inOrder).All(
            static both => both.First.Type == both.Second.Type && both.First.Value.Span.SequenceEqual(both.Second.Value.Span));
    }

    public override bool Equals(object? obj) => Equals(obj as HelloOptions);

    public override int GetHashCode() => _inOrder.Length == 0 ? 0 : HashCode.Combine(_inOrder.Length, _inOrder[0].Type);

    /// <summary>Each type with its value in hex, in their order.</summary>
    public override string ToString()
    {
        var text = new StringBuilder();
        foreach ((ulong type, ReadOnlyMemory<byte> value) in _inOrder)
            text.Append(text.Length > 0 ? " " : "").Append(type).Append('=').Append(Convert.ToHexStringLower(value.Span));
        return text.ToString();
    }
}
