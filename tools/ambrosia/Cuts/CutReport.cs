using Ambrosia.Inspection.Cuts;
using Ambrosia.Inspection.Masking;
using Ambrosia.Inspection.Texts;
using Ambrosia.Protocol.Texts;
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

    /// <summary>What was masked, by name, and which texts and bytes are as they were; null: nothing was asked for.</summary>
    public MaskTally? Mask => made.Masking;

    public string Debug => $"{ShellWords.Join("ImmortalCoordinator", "debug", "--log", Directory, "--until", Place)} -- APP";

    public void Draw(Screen screen)
    {
        screen.Line($"{Message}", Tone.Heading);
        screen.Line($"{TextFormat.Size(Bytes)} in {Directory}: from {Checkpoint ?? "the log's first record"} to {End}");
        if (Suspended > 0)
            screen.Line(
                $"{Suspended} methods are suspended in that checkpoint, and no older one is without: only a build with the same bodies can continue it; --checkpoint begins elsewhere",
                Tone.Warning);
        if (Mask is { } mask) Draw(screen, mask);
        foreach (string call in Calls ?? []) screen.Line($"  then  {call}");
        screen.Line($"stop just before it: {Debug}");
        if (Test is not null) screen.Line($"the test: {Test}");
    }

    private void Draw(Screen screen, MaskTally mask)
    {
        screen.Line(Calls is null ? "masked: it says nothing of what was done then"
            : "masked: what was done then was made anew by the build, with the masked values");
        foreach ((string name, long values) in mask.Masked) screen.Line($"  masked  {name}: {values:N0} values");
        foreach ((string name, long values) in mask.Elsewhere)
            screen.Line($"  masked  {name}: {values:N0}, which were the same or held them");
        foreach ((string name, long values) in mask.NotMasked)
            screen.Line(
                $"  NOT MASKED  {name}: {values:N0} hold a masked value in other letters, backwards or escaped; name it with --mask, too",
                Tone.Bad);
        foreach ((string name, long values) in mask.Left) screen.Line($"  as it was  {name}: {values:N0} texts or bytes", Tone.Warning);
    }
}
