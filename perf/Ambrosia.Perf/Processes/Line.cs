using System.Text.RegularExpressions;

namespace Ambrosia.Perf;

/// <summary>A line that a coordinator or its app printed.</summary>
/// <param name="Generation">Of the member when the process was started.</param>
/// <param name="Text">The text of a coordinator's event, or an app's line as it is.</param>
internal sealed partial record Line(Member From, int Generation, string Text)
{
    /// <summary>False: of a process that another one of this member has followed.</summary>
    public bool IsOfLastStart => Generation == From.Generation;

    public string[] Words { get; } = Text.Split(' ');

    /// <summary>Takes time, level and event off; an earlier build, which ours is compared with, wrote the text alone.</summary>
    public static Line Of(Member from, int generation, string printed) => new(from, generation, Head().Replace(printed, "", 1));

    /// <summary>What stands before the text of an event (docs/operating.md).</summary>
    [GeneratedRegex(@"^(<\d>|[-0-9]+T[:.0-9]+Z [a-z]+ +)[a-z]+(\.[a-z]+)+ ")]
    private static partial Regex Head();
}
