using Ambrosia.Images.Masking;

namespace Ambrosia.Inspection.Masking;

/// <summary>Counts, by the names of places, what was masked in a cut and which texts and bytes are as they were.</summary>
internal sealed class MaskTally
{
    public MaskTally(MaskRules rules)
    {
        Rules = rules.Texts;
        Masked = Count(rules, static name => name.Masked);
        Elsewhere = Count(rules, static name => name.Replaced);
        Left = Count(rules, static name => name.Left);
        NotMasked = Count(rules, static name => name.Turned);
    }

    /// <summary>The rules as the user wrote them.</summary>
    public IReadOnlyList<string> Rules { get; }

    /// <summary>So many values have others in their place, since a rule names them.</summary>
    public IReadOnlyDictionary<string, long> Masked { get; }

    /// <summary>So many texts and byte strings were equal to one of these, or held one, which was replaced.</summary>
    public IReadOnlyDictionary<string, long> Elsewhere { get; }

    /// <summary>So many texts and byte strings are as they were, as no rule names them.</summary>
    public IReadOnlyDictionary<string, long> Left { get; }

    /// <summary>The numbers of texts and byte strings that hold a masked value in a form that is not replaced.</summary>
    public IReadOnlyDictionary<string, long> NotMasked { get; }

    private static SortedDictionary<string, long> Count(MaskRules rules, Func<PlaceName, long> count)
    {
        var counts = new SortedDictionary<string, long>(StringComparer.Ordinal);
        foreach (PlaceName name in rules.Names)
            if (count(name) is > 0 and { } values) counts[name.Label] = counts.GetValueOrDefault(name.Label) + values;
        return counts;
    }
}
