namespace Ambrosia.Tidy.Tests;

/// <summary>One place that breaks a rule.</summary>
/// <param name="Path">The file, or the folder, relative to the root.</param>
/// <param name="What">What is wrong there, and how to mend it.</param>
internal sealed record Finding(string Path, string What)
{
    public override string ToString() => $"{Path}: {What}";
}
