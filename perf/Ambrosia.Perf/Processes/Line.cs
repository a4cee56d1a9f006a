namespace Ambrosia.Perf;

/// <summary>A line that a coordinator or its app printed.</summary>
/// <param name="Generation">Of the member when the process was started.</param>
internal sealed record Line(Member From, int Generation, string Text)
{
    /// <summary>False: of a process that another one of this member has followed.</summary>
    public bool IsOfLastStart => Generation == From.Generation;

    public string[] Words { get; } = Text.Split(' ');
}
