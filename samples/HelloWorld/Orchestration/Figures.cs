namespace HelloWorld.Orchestration;

/// <summary>What a run shows: where it stands at one moment.</summary>
internal sealed record Figures
{
    public required TimeSpan Elapsed { get; init; }

    public required IReadOnlyList<ProcessFigures> Processes { get; init; }

    /// <summary>Calls that the client was ever told to make, those of earlier runs included.</summary>
    public required long Wanted { get; init; }

    public required long Made { get; init; }

    public required long Applied { get; init; }

    public required long Answers { get; init; }

    public required int KillsPlanned { get; init; }

    public required int Kills { get; init; }

    public required Recoveries Recoveries { get; init; }

    public required double CallsPerSecond { get; init; }
}
