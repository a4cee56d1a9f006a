using System.Reflection;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes and reads the comparers of collections: the default one and the two of text that do not depend on a culture. Others are refused
/// by name.
/// </summary>
internal static class Comparers
{
    private const byte Default = 0;

    /// <summary>Those of text, in the order of their codes, from 1.</summary>
    private static readonly object?[] s_ofText = Array.ConvertAll(KeptTypes.Comparers, static name =>
        typeof(StringComparer).GetProperty(name, BindingFlags.Static | BindingFlags.Public)!.GetValue(null));

    /// <summary>Writes the comparer's code, alone or in front of a hashed collection's capacity and free slots.</summary>
    internal static void Write(
        GraphWriter graph, ref CborWriter to, object? comparer, Type collection, int capacity, ReadOnlySpan<int> free)
    {
        if (capacity > 0) to.WriteArrayHeader(2 + free.Length);
        WriteCode(graph, ref to, comparer, collection);
        if (capacity == 0) return;
        to.WriteUInt64((ulong)capacity);
        foreach (int slot in free) to.WriteUInt64((ulong)slot);
    }

    /// <summary>
    /// Writes the comparers of keys and values of an immutable map: the first one's code alone where the values have the default one.
    /// </summary>
    internal static void WritePair(GraphWriter graph, ref CborWriter to, object? keys, object? values, Type collection)
    {
        bool hasBoth = values is not null && !IsDefault(values);
        if (hasBoth) to.WriteArrayHeader(3);
        WriteCode(graph, ref to, keys, collection);
        if (!hasBoth) return;
        to.WriteUInt64(0); // no capacity, by which readers of before refuse it instead of losing what follows
        WriteCode(graph, ref to, values, collection);
    }

    /// <summary>Reads what <see cref="WritePair"/> wrote; null means the default one.</summary>
    internal static (object? Keys, object? Values) ReadPair<TKey, TValue>(ref CborReader from)
    {
        bool hasBoth = from.PeekKind() == CborKind.Array;
        if (hasBoth && from.ReadArrayHeader() != 3) throw new InvalidDataException("The image holds an immutable map of another form.");
        object? keys = ReadCode<TKey>(ref from);
        if (!hasBoth) return (keys, null);
        if (from.ReadUInt64() != 0) throw new InvalidDataException("The image holds an immutable map with a capacity.");
        return (keys, ReadCode<TValue>(ref from));
    }

    private static void WriteCode(GraphWriter graph, ref CborWriter to, object? comparer, Type collection)
    {
        int code = s_ofText.Length;
        while (code > Default && !ReferenceEquals(s_ofText[code - 1], comparer)) code--;
        if (code == Default && comparer is not null && !IsDefault(comparer))
            throw graph.CannotWrite(collection, $" with a comparer of type {comparer.GetType()}");
        to.WriteUInt64((ulong)code);
    }

    /// <summary>Reads what <see cref="Write"/> wrote, and returns the comparer; null means the default one.</summary>
    /// <param name="capacity">0: the collection has never held anything.</param>
    internal static object? Read<T>(ref CborReader from, out int capacity, out int[] free)
    {
        int items = from.PeekKind() == CborKind.Array ? from.ReadArrayHeader() : 1;
        object? comparer = ReadCode<T>(ref from);
        capacity = items > 1 ? from.ReadInt32() : 0;
        if (capacity < 0 || (items > 1 && capacity == 0))
            throw new InvalidDataException($"The image holds a collection of {typeof(T)} with a capacity of {capacity}.");
        free = items > 2 ? new int[items - 2] : [];
        for (int i = 0; i < free.Length; i++) free[i] = from.ReadInt32();
        return comparer;
    }

    private static object? ReadCode<T>(ref CborReader from) => from.ReadByte() switch
    {
        Default => null,
        byte code when code <= s_ofText.Length && typeof(T) == typeof(string) => s_ofText[code - 1],
        byte code => throw new InvalidDataException($"The image names comparer {code} for a collection of {typeof(T)}."),
    };

    private static bool IsDefault(object comparer)
    {
        Type type = comparer.GetType();
        if (!ObjectShapes.IsOfSystem(type)) return false;
        for (Type? at = type; at is not null; at = at.BaseType)
        {
            if (!at.IsGenericType) continue;
            Type definition = at.GetGenericTypeDefinition();
            if (definition == typeof(EqualityComparer<>) || definition == typeof(Comparer<>))
                return comparer.Equals(
                    at.GetProperty("Default", BindingFlags.Static | BindingFlags.Public)!.GetValue(
                        null));
        }
        return false;
    }
}
