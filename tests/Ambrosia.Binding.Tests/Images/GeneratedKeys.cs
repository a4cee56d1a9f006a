using System.Collections.Immutable;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>Makes keys of one kind by number: equal ones for one number.</summary>
internal static class GeneratedKeys
{
    internal static TKey Make<TKey>(int n, GeneratedState owner) => (TKey)(object)Of(typeof(TKey), n, owner);

    private static object Of(Type key, int n, GeneratedState owner) =>
        key == typeof(string) ? $"key {n}"
        : key == typeof(int) ? n
        : key == typeof(PlainKey) ? new PlainKey($"name {n}", n % 2 == 0 ? null : n)
        : key == typeof((SetKey, int?)) ? (Set(n), n % 3 == 0 ? (int?)null : n)
        : key == typeof(SetKey) ? Set(n)
        : key == typeof(MapKey) ? new MapKey { Parts = Parts(n) }
        : key == typeof(SortedKey) ? new SortedKey { Ranks = [.. Enumerable.Range(n, 3)], Named = new() { [$"{n}"] = Set(n) } }
        : key == typeof(DeepKey) ? new DeepKey { Sets = [Set(n), Set(n + 1)], Fixed = [.. new[] { Rank(n), Rank(n + 2) }] }
        : key == typeof(RankKey) ? Rank(n)
        : key == typeof(Held<SetKey>) ? new Held<SetKey>(Set(n), new PlainKey("held", n))
        : key == typeof(EntityKey) ? new EntityKey { Number = n, Owner = owner, Friends = { new EntityKey { Number = n + 1 } } }
        : key == typeof(object) ? n % 3 == 0 ? Set(n) : n % 3 == 1 ? (Set(n), n) : $"object {n}"
        : throw new ArgumentOutOfRangeException(nameof(key));

    private static SetKey Set(int n) => new() { Members = [.. Enumerable.Range(0, 5).Where(i => ((n + 1) >> i & 1) == 1).Select(Plain)] };

    private static PlainKey Plain(int i) => new($"member {i}", i);

    private static Dictionary<SetKey, List<string>> Parts(int n)
    {
        Dictionary<SetKey, List<string>> parts = new() { [Set(99)] = ["gap"], [Set(n)] = ["a"], [Set(n + 7)] = [] };
        parts.Remove(Set(99)); // a slot that is free
        return parts;
    }

    private static RankKey Rank(int n) => new() { Ranks = new() { [Plain(0)] = n, [Plain(1)] = -n } };
}

internal sealed record PlainKey(string Name, int? Number);

/// <summary>Equal by a set.</summary>
internal sealed class SetKey
{
    internal HashSet<PlainKey> Members { get; init; } = [];

    public override bool Equals(object? obj) => obj is SetKey other && other.Members.SetEquals(Members);

    public override int GetHashCode() => Members.Aggregate(0, static (sum, each) => sum + each.GetHashCode());

    public override string ToString() => $"S({string.Join(",", Members)})";
}

/// <summary>Equal by what it looks up in a map, whose keys are equal by sets.</summary>
internal sealed class MapKey
{
    internal Dictionary<SetKey, List<string>> Parts { get; init; } = [];

    public override bool Equals(object? obj) =>
        obj is MapKey other && other.Parts.Count == Parts.Count && Parts.Keys.All(other.Parts.ContainsKey);

    public override int GetHashCode() => Parts.Keys.Aggregate(0, (sum, each) => sum + each.GetHashCode() + Parts[each].Count);

    public override string ToString() => $"M({string.Join(",", Parts.Keys)})";
}

/// <summary>Equal and ordered by what a sorted map looks up.</summary>
internal sealed class RankKey : IComparable<RankKey>
{
    internal Dictionary<PlainKey, int> Ranks { get; init; } = [];

    private int Rank => Ranks[new PlainKey("member 0", 0)];

    public int CompareTo(RankKey? other) => Rank.CompareTo(other!.Rank);

    public override bool Equals(object? obj) => obj is RankKey other && other.Rank == Rank;

    public override int GetHashCode() => Rank;

    public override string ToString() => $"R{Rank}";
}

internal abstract class NamedKey
{
    internal SortedDictionary<string, SetKey> Named { get; init; } = new(StringComparer.Ordinal);

    public override bool Equals(object? obj) => obj is NamedKey other && other.Named.Values.SequenceEqual(Named.Values);

    public override int GetHashCode() => Named.Values.Sum(static each => each.GetHashCode() & 0xFFFF);
}

/// <summary>Equal by a sorted set, and by what its base class holds.</summary>
internal sealed class SortedKey : NamedKey
{
    internal SortedSet<int> Ranks { get; init; } = [];

    public override bool Equals(object? obj) => obj is SortedKey other && base.Equals(obj) && other.Ranks.SetEquals(Ranks);

    public override int GetHashCode() => base.GetHashCode() + Ranks.Sum();

    public override string ToString() => $"O({string.Join(",", Ranks)})";
}

/// <summary>Equal by a set of what is equal by sets, and by an immutable set of what is ordered by maps.</summary>
internal sealed class DeepKey
{
    internal HashSet<SetKey> Sets { get; init; } = [];

    internal ImmutableSortedSet<RankKey> Fixed { get; init; } = [];

    public override bool Equals(object? obj) => obj is DeepKey other && other.Sets.SetEquals(Sets) && other.Fixed.SetEquals(Fixed);

    public override int GetHashCode() => Sets.Aggregate(Fixed.Count, static (sum, each) => sum + each.GetHashCode());

    public override string ToString() => $"D({string.Join(",", Sets)})";
}

internal sealed record Held<T>(T What, PlainKey Beside);

/// <summary>Equal by its number, although it reaches all of the state.</summary>
internal sealed class EntityKey
{
    internal int Number { get; init; }

    internal GeneratedState? Owner { get; init; }

    internal HashSet<EntityKey> Friends { get; init; } = [];

    public override bool Equals(object? obj) => obj is EntityKey other && other.Number == Number;

    public override int GetHashCode() => Number;

    public override string ToString() => $"E{Number}";
}
