using Ambrosia.Inspection.Cuts;
using Ambrosia.Inspection.Texts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Cuts;

/// <summary>Shows what was cut.</summary>
/// <param name="Test">The path of the test; null: none was asked for.</param>
internal sealed class CutReport(MadeCut made, CutBeginning beginning, string? test) : IReport
{
    public string Directory => made.Cut.Directory;

    public string Place => made.Cut.Place;

    public string Message => made.Cut.Message;

    /// <summary>The checkpoint; null: the log's first record.</summary>
    public string? Checkpoint => beginning.Name?.ToString();

    public long? Suspended => beginning.Suspended;

    public string From => $"{beginning.From}";

    public string End => $"{made.End}";

    public long Bytes => made.Bytes;

    /// <summary>What the message made the build call; null: it was executed by none.</summary>
    public IReadOnlyList<string>? Calls => made.Cut.Then?.Calls;

    public string? Test => test;

    public string Debug => $"ImmortalCoordinator debug --log {Directory} --until {Place} -- APP";

    public void Draw(Screen screen)
    {
        screen.Line($"{Message}", Tone.Heading);
        screen.Line($"{TextFormat.Size(Bytes)} in {Directory}: from {Checkpoint ?? "the log's first record"} to {End}");
        if (Suspended > 0)
            screen.Line(
                $"{Suspended} methods are suspended in that checkpoint, and no older one is without: only a build with the same bodies can continue it; --checkpoint begins elsewhere",
                Tone.Warning);
        foreach (string call in Calls ?? []) screen.Line($"  then  {call}");
        screen.Line($"stop just before it: {Debug}");
        if (Test is not null) screen.Line($"the test: {Test}");
    }
}
