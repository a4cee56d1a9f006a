namespace Ambrosia.Tools;

/// <summary>
/// The user asked for something that cannot be done: what, why, and how to mend it. Ends with <see cref="ToolExit.Misuse"/>.
/// </summary>
/// <param name="what">What is wrong, with the words that the user gave.</param>
/// <param name="why">Why that cannot work; empty where <paramref name="what"/> says it.</param>
/// <param name="mend">What to do instead.</param>
internal sealed class ToolMisuse(
    string what, string why, string mend) : Exception(string.Join("; ", new[] { what, why, mend }.Where(static part => part.Length > 0)))
{
    public string What { get; } = what;
    public string Why { get; } = why;
    public string Mend { get; } = mend;
}
