namespace Ambrosia.Images.Paths;

/// <summary>A path cannot be read, or leads to nothing.</summary>
/// <param name="what">What is wrong with it.</param>
/// <param name="missing">The name that is not there; empty where the path is no path.</param>
/// <param name="names">What is there instead, each as it is written in a path; of many the first.</param>
public sealed class ImagePathException(string what, string missing, IReadOnlyList<string> names) : Exception(what)
{
    /// <summary>The name that is not there; empty where the path is no path.</summary>
    public string Missing { get; } = missing;

    /// <summary>They are the names that are there instead, each as it is written in a path; of many the first.</summary>
    public IReadOnlyList<string> Names { get; } = names;
}
