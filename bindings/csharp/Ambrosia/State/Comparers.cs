using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Comparers of collections: the default one and the two of text that do not depend on a culture; others are refused by name.</summary>
internal static class Comparers
{
    private const byte Default = 0, Ordinal = 1, OrdinalIgnoreCase = 2;

    /// <summary>The comparer's code, alone or in front of the collection's free slots.</summary>
    internal static void Write(GraphWriter graph, ref CborWriter to, object? comparer, Type collection, int[] free)
    {
        if (free.Length > 0) to.WriteArrayHeader(1 + free.Length);
        WriteCode(graph, ref to, comparer, collection);
        foreach (int slot in free) to.WriteUInt64((ulong)slot);
    }

    private static void WriteCode(GraphWriter graph, ref CborWriter to, object? comparer, Type collection)
    {
        to.WriteUInt64(comparer switch
        {
            null => Default,
            _ when ReferenceEquals(comparer, StringComparer.Ordinal) => Ordinal,
            _ when ReferenceEquals(comparer, StringComparer.OrdinalIgnoreCase) => OrdinalIgnoreCase,
            _ when IsDefault(comparer) => Default,
            _ => throw graph.CannotWrite(collection, $" with a comparer of type {comparer.GetType()}"),
        });
    }

    /// <summary>Null: the default one.</summary>
    internal static object? Read<T>(ref CborReader from, out int[] free)
    {
        int slots = from.PeekKind() == CborKind.Array ? from.ReadArrayHeader() - 1 : 0;
        object? comparer = ReadCode<T>(ref from);
        free = slots > 0 ? new int[slots] : [];
        for (int i = 0; i < free.Length; i++) free[i] = from.ReadInt32();
        return comparer;
    }

    private static object? ReadCode<T>(ref CborReader from) => from.ReadByte() switch
    {
        Default => null,
        Ordinal when typeof(T) == typeof(string) => StringComparer.Ordinal,
        OrdinalIgnoreCase when typeof(T) == typeof(string) => StringComparer.OrdinalIgnoreCase,
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
                return comparer.Equals(at.GetProperty("Default", System.Reflection.BindingFlags.Static | System.Reflection.BindingFlags.Public)!.GetValue(null));
        }
        return false;
    }
}
