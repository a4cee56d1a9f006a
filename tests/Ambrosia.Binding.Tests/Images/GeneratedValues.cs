using System.Collections;
using System.Collections.Immutable;
using System.Globalization;
using System.Numerics;
using System.Text;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// The other rows of the table of types in a random graph: immutable collections, stacks and queues, and the framework's values, among them
/// those that could show the zone, the culture, the thread or the stack of the process.
/// </summary>
internal sealed class GeneratedValues
{
    private ImmutableList<RankKey> _list = [];
    private ImmutableArray<SetKey> _array = [];
    private ImmutableSortedSet<RankKey> _sorted = [];
    private ImmutableSortedDictionary<RankKey, SetKey?> _sortedMap = ImmutableSortedDictionary<RankKey, SetKey?>.Empty;
    private ImmutableHashSet<string> _names = ImmutableHashSet.Create<string>(StringComparer.OrdinalIgnoreCase);
    private ImmutableDictionary<Guid, List<SetKey>> _byId = ImmutableDictionary<Guid, List<SetKey>>.Empty;
    private ImmutableQueue<PlainKey> _queue = [];
    private readonly Stack<(int, string?)> _stack = new();
    private readonly Queue<Held<SetKey>?> _line = new();
    private readonly SortedList<string, int[]> _table = new(StringComparer.Ordinal);
    private readonly StringBuilder _text = new(16, 200);
    private BitArray _bits = new(3);
    private BigInteger _sum = -1;
    private Uri? _where;
    private DateTime _when;
    private DateTimeOffset? _moment;
    private Exception? _failed;
    private IEnumerable<int> _counting = Counting(3, []);
    private IEnumerator<int>? _begun;
    private readonly int[,] _grid = new int[3, 4];
    private object? _boxed;

    internal string Do(Random random, int n, GeneratedState owner)
    {
        RankKey rank = GeneratedKeys.Make<RankKey>(n, owner);
        SetKey set = GeneratedKeys.Make<SetKey>(n, owner);
        switch (random.Next(16))
        {
            case 0: _list = n % 3 == 0 ? _list.RemoveRange(0, _list.Count / 2) : _list.Insert(_list.Count / 2, rank); return $"{_list.IndexOf(rank)}";
            case 1: _array = _array.Length > 5 ? [] : _array.Add(set); return $"{_array.IndexOf(set)}";
            case 2: _sorted = n % 3 == 0 ? _sorted.Remove(rank) : _sorted.Add(rank); return $"{_sorted.Count} {_sorted.Max}";
            case 3: _sortedMap = _sortedMap.SetItem(rank, n % 3 == 0 ? null : set); return $"{_sortedMap.Keys.First()}";
            case 4:
                _names = n % 3 == 0 ? _names.Remove($"I{n - 1}") : _names.Add($"{(n % 2 == 0 ? "I" : "i")}{n}");
                return $"{_names.Contains($"i{n}")}";
            case 5: _byId = _byId.SetItem(Id(n), _byId.GetValueOrDefault(Id(n + 1)) ?? [set]); return $"{_byId.Count}";
            case 6: _byId.GetValueOrDefault(Id(n))?.Add(set); return $"{_byId.GetValueOrDefault(Id(n))?.Count}";
            case 7: _queue = n % 3 == 0 && !_queue.IsEmpty ? _queue.Dequeue() : _queue.Enqueue(new PlainKey("q", n)); return $"{_queue.Count()}";
            case 8: _stack.Push((n, n % 2 == 0 ? null : "s")); return n % 3 == 0 ? $"{_stack.Pop()}" : $"{_stack.Count}";
            case 9: _line.Enqueue(n % 2 == 0 ? null : new(set, new("h", n))); return n % 3 == 0 ? $"{_line.Dequeue()}" : $"{_line.Count}";
            case 10: _table[$"{(n % 2 == 0 ? "ı" : "I")}{n % 5}"] = [n]; return $"{_table.IndexOfKey($"I{n % 5}")} {_table.Keys[0]}";
            case 11: return $"{(_text.Length > 150 ? _text.Clear() : _text.Append("ab\ud800").Insert(0, n))}";
            case 12: _bits = n % 3 == 0 ? _bits.Not() : new BitArray(_bits) { Length = _bits.Length % 40 + 1 }; return $"{_bits.HasAnySet()}";
            case 13: _grid[n % 3, n % 4]++; _sum *= -n - 3; _boxed = n % 2 == 0 ? _grid : (n, (object?)_boxed?.ToString()); return $"{_sum % 1_000_003}";
            case 14: return Moment(n);
            default: return Counted(n);
        }
    }

    private string Moment(int n)
    {
        _when = new DateTime(2024, 6, 1 + n, 2, 30, n, (DateTimeKind)(n % 3));
        _moment = n % 4 == 0 ? null : new DateTimeOffset(2024, 1, 1 + n, 3, 0, 0, TimeSpan.FromHours(n - 6));
        _where = n % 2 == 0 ? new Uri($"/a/{n}", UriKind.Relative) : new Uri($"http://a/%C4%B1?{n}");
        try
        {
            throw n % 2 == 0 ? new ArgumentException($"İ {n}", "p", _failed is { InnerException: null } ? _failed : null)
                : new KeyNotFoundException();
        }
        catch (Exception e) when (e is ArgumentException or KeyNotFoundException) // with the stack of this process
        {
            _failed = e;
        }
        return $"{_when.Ticks} {_when.Kind} {_moment?.Offset} {_where} {_failed.Message}";
    }

    private string Counted(int n)
    {
        if (n % 3 == 0) _counting = Counting(n, [n, n + 1]);
        if (n % 4 == 0) _begun = _counting.GetEnumerator();
        return $"{_begun?.MoveNext()} {_begun?.Current} {string.Join(',', _counting)}";
    }

    private static IEnumerable<int> Counting(int to, List<int> rest)
    {
        for (int i = 0; i < to; i++) yield return i;
        foreach (int each in rest) yield return each;
    }

    /// <summary>Says what everything holds; what hashes enumerates in the order of the process, and is sorted.</summary>
    internal string Show() => string.Join(" | ",
        string.Join(' ', _list), string.Join(' ', _array), string.Join(' ', _sorted), string.Join(' ', _sortedMap),
        string.Join(' ', _names.Order(StringComparer.Ordinal)), _names.KeyComparer.Equals("a", "A"),
        string.Join(' ', _byId.OrderBy(static each => each.Key).Select(static each => $"{each.Key}:{string.Join(',', each.Value)}")),
        _byId.Values.Distinct().Count(), string.Join(' ', _queue), string.Join(' ', _stack), string.Join(' ', _line),
        string.Join(' ', _table.Select(static each => $"{each.Key}={each.Value[0]}")), _text, _text.MaxCapacity,
        string.Concat(_bits.Cast<bool>().Select(static each => each ? '1' : '0')), _sum.ToString(CultureInfo.InvariantCulture), _where,
        _when.Ticks, _when.Kind, _moment?.Ticks, _failed?.GetType(), _failed?.Message, _failed?.InnerException?.Message,
        string.Join(' ', _counting), string.Join(' ', _grid.Cast<int>()), ReferenceEquals(_boxed, _grid), _boxed);

    private static Guid Id(int n) => new(n, 0, 0, new byte[8]);
}
