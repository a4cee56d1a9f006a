namespace Ambrosia.Tools;

/// <summary>What a build would have to refuse of a checkpoint.</summary>
/// <param name="Checkpoint">The newest sound one; null: there is none, so nothing is suspended in one.</param>
/// <param name="Assemblies">Of the build.</param>
/// <param name="Refused">A line for each method and await, as the app would say it.</param>
internal sealed record SuspendedReport(
    string? Checkpoint, ulong? Lsn, IReadOnlyList<string> Assemblies, IReadOnlyList<string> Refused) : IReport
{
    public void Draw(Screen screen)
    {
        foreach (string line in Refused) screen.Line(line, Tone.Bad);
        if (Checkpoint is null) screen.Line("There is no checkpoint: nothing is suspended in one.");
        else if (Refused.Count == 0) screen.Line($"This build can continue everything that is suspended in {Checkpoint}.", Tone.Good);
        else
            screen.Line(
                $"This build cannot continue {Checkpoint}: let these calls finish with the old one, and ask again after its next checkpoint.");
    }
}
