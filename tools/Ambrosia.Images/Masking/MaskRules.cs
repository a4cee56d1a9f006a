namespace Ambrosia.Images.Masking;

/// <summary>
/// Holds the rules by which a cut is masked: each names a field, parameter or the like, by its own name or with those in front of it. Upper
/// and lower case are alike, and so are names with and without an underscore in front. It also keeps all names that were met. One thread.
/// </summary>
internal sealed class MaskRules
{
    /// <summary>The names of what no contract or class names.</summary>
    internal const string Key = "$key", Failure = "$failure", Task = "$task", Why = "$why";

    /// <summary>The last part of the name of a method's result, of a map's keys.</summary>
    internal const string Result = "result", Keys = "keys";

    /// <summary>So many names of what no class declares are told apart, since a map may have any number of keys.</summary>
    private const int UndeclaredMax = 1_000;

    private readonly string[][] _parts;
    private readonly bool[] _isKnown;
    private readonly Dictionary<(string Owner, string Member, int? Outer), PlaceName> _names = [];
    private int _undeclared;

    /// <param name="texts">As the user wrote them, none of them empty.</param>
    internal MaskRules(IReadOnlyList<string> texts)
    {
        Texts = texts;
        _parts = [.. texts.Select(PartsOf)];
        _isKnown = new bool[texts.Count];
    }

    internal IReadOnlyList<string> Texts { get; }

    /// <summary>All names that were met, in no order.</summary>
    internal IReadOnlyCollection<PlaceName> Names => _names.Values;

    /// <summary>The rules that name nothing which was met.</summary>
    internal IEnumerable<string> Unknown => Texts.Where((_, i) => !_isKnown[i]);

    /// <summary>Returns the name of a place.</summary>
    /// <param name="outer">What it is a part of; a rule that masks that masks the place, too. Null: nothing.</param>
    /// <param name="label">As a person writes it; null: the last part of the owner, and the member.</param>
    internal PlaceName Of(string owner, string member, PlaceName? outer = null, string? label = null)
    {
        if (_names.TryGetValue((owner, member, outer?.Rule), out PlaceName? known)) return known;
        int? own = RuleOf(owner, member);
        var name = new PlaceName(owner, member, label ?? LabelOf(owner, member), outer?.Rule ?? own);
        _names.Add((owner, member, outer?.Rule), name);
        return name;
    }

    /// <summary>Returns the name of what the binding itself has: no rule names it, only what it is a part of.</summary>
    internal PlaceName OfBinding(string owner, string member, PlaceName outer)
    {
        if (_names.TryGetValue((owner, member, outer.Rule), out PlaceName? known)) return known;
        var name = new PlaceName(owner, member, LabelOf(owner, member), outer.Rule);
        _names.Add((owner, member, outer.Rule), name);
        return name;
    }

    /// <summary>Returns the name of the keys of a map.</summary>
    internal PlaceName KeysOf(PlaceName map) => Of(map.Owner, $"{map.Member}.{Keys}", map, $"{map.Label}.{Keys}");

    /// <summary>Returns the name of a member that only the value itself names; where there are many, that of the value.</summary>
    internal PlaceName Undeclared(PlaceName outer, string member)
    {
        if (_names.TryGetValue((outer.Owner, member, outer.Rule), out PlaceName? known)) return known;
        if (_undeclared >= UndeclaredMax && RuleOf(outer.Owner, member) is null) return outer;
        _undeclared++;
        return Of(outer.Owner, member, outer);
    }

    private int? RuleOf(string owner, string member)
    {
        string[] parts = [.. PartsOf(owner), .. PartsOf(member)];
        int? found = null;
        for (int i = 0; i < _parts.Length; i++)
        {
            if (!parts.AsSpan().EndsWith(_parts[i])) continue;
            _isKnown[i] = true;
            found ??= i;
        }
        return found;
    }

    private static string[] PartsOf(string name)
    {
        int generic = name.IndexOf('<', StringComparison.Ordinal);
        if (generic > 0) name = name[..generic];
        return
        [
            .. name.Split('.', '+').Where(static part => part.Length > 0).Select(static part => part.TrimStart('_').ToUpperInvariant()),
        ];
    }

    private static string LabelOf(string owner, string member)
    {
        int generic = owner.IndexOf('<', StringComparison.Ordinal);
        string plain = generic > 0 ? owner[..generic] : owner;
        string type = plain[(plain.LastIndexOfAny(['.', '+']) + 1)..];
        return type.Length == 0 ? member : $"{type}.{member}";
    }
}
