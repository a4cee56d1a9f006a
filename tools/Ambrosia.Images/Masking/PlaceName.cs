namespace Ambrosia.Images.Masking;

/// <summary>Names the places of a cut where one kind of value stands, and counts what was done there.</summary>
/// <param name="Owner">The type or method that has it; empty: none has.</param>
/// <param name="Member">The field, parameter or the like.</param>
/// <param name="Label">As a person writes it in a rule.</param>
/// <param name="Rule">The number of the rule that masks it; null: none does.</param>
internal sealed record PlaceName(string Owner, string Member, string Label, int? Rule)
{
    internal bool IsMasked => Rule is not null;

    /// <summary>So many values were masked since a rule names the place.</summary>
    internal long Masked { get; set; }

    /// <summary>So many values hold, or are, something that a rule masks elsewhere, which was replaced.</summary>
    internal long Replaced { get; set; }

    /// <summary>So many texts and byte strings are as they were.</summary>
    internal long Left { get; set; }

    /// <summary>The number of these that hold a masked value in other letters, backwards or escaped, where it is not masked.</summary>
    internal long Turned { get; set; }
}
