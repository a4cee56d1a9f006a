namespace Ambrosia.Perf;

/// <summary>What a command found: figures for the file, and how to show them.</summary>
internal sealed record Outcome(object Figures, string Durability, Action Show)
{
    public IReadOnlyList<Chart> Charts { get; init; } = [];
}
