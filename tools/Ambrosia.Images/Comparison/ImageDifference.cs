using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;

namespace Ambrosia.Images.Comparison;

/// <summary>It says how two images differ at a path.</summary>
public enum DifferenceKind
{
    /// <summary>Another value stands there, or an object of another type.</summary>
    Changed,

    /// <summary>It is there in the second image only.</summary>
    Added,

    /// <summary>It is there in the first image only.</summary>
    Removed,

    /// <summary>The entries of a map or set that are in both come in another order.</summary>
    Order,

    /// <summary>The place refers to an object of its own in one image, and to one of another place in the other.</summary>
    Sharing,
}

/// <summary>Says at which place two images differ, and how.</summary>
/// <param name="Before">What stands there in the first image; null: nothing, or it is not about a value.</param>
/// <param name="After">What stands there in the second image; null likewise.</param>
public sealed record ImageDifference(ImagePath Path, DifferenceKind Kind, BriefValue? Before, BriefValue? After)
{
    /// <summary>Returns a line for people.</summary>
    public override string ToString() => Kind switch
    {
        DifferenceKind.Changed => $"{Path}: {Before?.Text} → {After?.Text}",
        DifferenceKind.Added => $"{Path}: added, {After?.Text}",
        DifferenceKind.Removed => $"{Path}: removed, {Before?.Text}",
        DifferenceKind.Order => $"{Path}: the same entries in another order",
        _ => $"{Path}: an object that it has alone in one, and with another place in the other",
    };
}

/// <summary>Holds what a comparison has found.</summary>
/// <param name="Shown">The first differences, in the order of the first image.</param>
/// <param name="Count">The number of all differences.</param>
public sealed record ImageDifferences(IReadOnlyList<ImageDifference> Shown, long Count)
{
    /// <summary>The two are alike by path.</summary>
    public bool AreNone => Count == 0;
}
