using System.Text;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// A random graph of collections by keys of every kind, with shared keys and cycles, and random operations on it. What an operation
/// answers, and what the collections enumerate, is text, by which two graphs are compared.
/// </summary>
internal sealed class GeneratedState
{
    private const int Kinds = 12, NumbersMax = 12;

    internal List<GeneratedCase> Cases { get; } = [];

    internal Dictionary<string, int> Caseless { get; } = new(StringComparer.OrdinalIgnoreCase);

    internal SortedDictionary<RankKey, SetKey> Sorted { get; } = [];

    internal SortedSet<RankKey> Ranking { get; } = [];

    internal PriorityQueue<string, RankKey> Queue { get; } = new();

    internal GeneratedValues Values { get; } = new();

    /// <summary>What several places refer to.</summary>
    internal List<object?> Shared { get; } = [];

    internal static GeneratedState Make(Random random)
    {
        var state = new GeneratedState();
        int cases = random.Next(1, 5);
        for (int i = 0; i < cases; i++) state.Cases.Add(NewCase(random.Next(Kinds)));
        state.Shared.AddRange([state, state.Cases[0], null, state.Caseless, state.Values]);
        for (int i = random.Next(60); i > 0; i--) state.Do(random.Next());
        return state;
    }

    private static GeneratedCase NewCase(int kind) => kind switch
    {
        0 => new GeneratedCase<string>(), 1 => new GeneratedCase<int>(), 2 => new GeneratedCase<PlainKey>(),
        3 => new GeneratedCase<(SetKey, int?)>(), 4 => new GeneratedCase<SetKey>(), 5 => new GeneratedCase<MapKey>(),
        6 => new GeneratedCase<SortedKey>(), 7 => new GeneratedCase<DeepKey>(), 8 => new GeneratedCase<RankKey>(),
        9 => new GeneratedCase<Held<SetKey>>(), 10 => new GeneratedCase<EntityKey>(), _ => new GeneratedCase<object>(),
    };

    /// <summary>Does one operation, and says what it answers.</summary>
    /// <param name="what">A random number, which chooses it.</param>
    internal string Do(int what)
    {
        var random = new Random(what);
        int n = random.Next(NumbersMax);
        switch (random.Next(18))
        {
            case 0: Caseless[$"{(what % 2 == 0 ? "x" : "X")}{n}"] = n; return $"{Caseless.ContainsKey($"x{n}")}";
            case 1: return $"{Caseless.Remove($"X{n}")}";
            case 2: return $"{Sorted.TryAdd(GeneratedKeys.Make<RankKey>(n, this), GeneratedKeys.Make<SetKey>(n, this))}";
            case 3: return $"{Sorted.Remove(GeneratedKeys.Make<RankKey>(n, this))}";
            case 4: return $"{Ranking.Add(GeneratedKeys.Make<RankKey>(n, this))} {Ranking.Max}";
            case 5: return $"{Ranking.Remove(GeneratedKeys.Make<RankKey>(n, this))}";
            case 6: Queue.Enqueue($"job {n}", GeneratedKeys.Make<RankKey>(n, this)); return Queue.Peek();
            case 7: return Queue.TryDequeue(out string? job, out RankKey? rank) ? $"{job} {rank}" : "none";
            case 8 or 9 or 10 or 11: return Values.Do(random, n, this);
            default: return Cases[random.Next(Cases.Count)].Do(random, n, this);
        }
    }

    /// <summary>Says what everything holds, in the order of its enumeration.</summary>
    internal string Show()
    {
        var text = new StringBuilder();
        foreach (GeneratedCase each in Cases) text.Append(each.Show()).Append('\n');
        text.AppendJoin(' ', Caseless).AppendJoin(' ', Sorted).AppendJoin(' ', Ranking).AppendJoin(' ', Queue.UnorderedItems).Append('\n');
        text.Append(Values.Show()).Append('\n');
        foreach (object? each in Shared)
            text.Append(each is null ? "-" : ReferenceEquals(each, this) ? "this" : ReferenceEquals(each, Caseless) ? "caseless"
                : $"{Cases.FindIndex(other => ReferenceEquals(other, each))}").Append(' ');
        return text.ToString();
    }
}

/// <summary>Collections by one kind of keys.</summary>
internal abstract class GeneratedCase
{
    internal abstract string Do(Random random, int n, GeneratedState owner);

    internal abstract string Show();
}

/// <inheritdoc/>
internal sealed class GeneratedCase<TKey> : GeneratedCase
    where TKey : notnull
{
    internal HashSet<TKey> Set { get; } = [];

    internal Dictionary<TKey, string?> Map { get; } = [];

    internal Dictionary<TKey, HashSet<TKey>> Nested { get; } = [];

    internal LinkedList<TKey> Line { get; } = [];

    internal override string Do(Random random, int n, GeneratedState owner)
    {
        // A key that several collections share, or one of its own.
        TKey key = Line.First is { } first && random.Next(2) == 0 ? first.Value : GeneratedKeys.Make<TKey>(n, owner);
        switch (random.Next(11))
        {
            case 0 or 1: return $"{Set.Add(key)} {Set.Count}";
            case 2: return $"{Set.Remove(key)}";
            case 3 or 4: Map[key] = n % 4 == 0 ? null : $"value {n}"; return $"{Map.Count}";
            case 5: return Map.Remove(key, out string? removed) ? $"removed {Text(removed)}" : "none";
            case 6: return $"{Text(Map.GetValueOrDefault(key))} {Set.Contains(key)} {Nested.ContainsKey(key)}";
            case 7:
                if (!Nested.TryGetValue(key, out HashSet<TKey>? inner)) Nested.Add(key, inner = Nested.Values.FirstOrDefault() ?? []);
                return $"{inner.Add(GeneratedKeys.Make<TKey>(n + 1, owner))} {inner.Count}";
            case 8: return $"{Nested.Remove(key)}";
            case 9: Line.AddLast(key); return $"{Line.Count}";
            default:
                if (Line.Count > 3) Line.RemoveFirst();
                Set.TrimExcess();
                return $"{Set.IsSubsetOf(Map.Keys)}";
        }
    }

    internal override string Show() =>
        string.Join(" | ", string.Join(' ', Set), string.Join(' ', Map.Select(static each => $"{each.Key}={Text(each.Value)}")),
            string.Join(' ', Nested.Select(static each => $"{each.Key}:{string.Join(',', each.Value)}")), string.Join(' ', Line),
            $"{Set.All(Set.Contains)} {Map.Keys.All(Map.ContainsKey)} {Nested.Keys.All(Nested.ContainsKey)} {Line.Count(IsShared)}");

    /// <summary>Tells null from an empty text.</summary>
    private static string Text(string? value) => value is null ? "null" : $"'{value}'";

    /// <summary>Says whether the set has the same object; of equal texts nothing says which is which.</summary>
    private bool IsShared(TKey key) => key is not string && Set.TryGetValue(key, out TKey? same) && ReferenceEquals(same, key);
}
