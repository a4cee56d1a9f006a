namespace Ambrosia.Perf;

/// <summary>A line that a coordinator or its app printed.</summary>
/// <param name="Generation">Of the member when the process was started.</param>
internal sealed record Line(Member From, int Generation, string Text)
{
    public string[] Words { get; } = Text.Split(' ');
}
