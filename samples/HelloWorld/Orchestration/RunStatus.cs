namespace HelloWorld.Orchestration;

/// <summary>The progress of a run at one moment, as it is shown.</summary>
internal sealed record RunStatus
{
    public required TimeSpan Elapsed { get; init; }

    public required IReadOnlyList<ProcessStatus> Processes { get; init; }

    /// <summary>The calls that the client was ever told to make, those of earlier runs included.</summary>
    public required long Wanted { get; init; }

    public required long Made { get; init; }

    public required long Applied { get; init; }

    public required long Answers { get; init; }

    public required int KillsPlanned { get; init; }

    public required int Kills { get; init; }

    public required Recoveries Recoveries { get; init; }

    public required double CallsPerSecond { get; init; }
}

/// <summary>The status of one of the four processes.</summary>
/// <param name="Id">The process id, or 0 while the process is not there.</param>
internal sealed record ProcessStatus(string Name, int Id, int Kills);

/// <summary>Shows a run while it runs.</summary>
internal interface IScreen
{
    /// <summary>Runs <paramref name="body"/>, which calls its argument whenever there is something new to show.</summary>
    void During(Action<Action<RunStatus>> body);
}
