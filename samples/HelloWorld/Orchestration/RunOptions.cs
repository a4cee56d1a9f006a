namespace HelloWorld.Orchestration;

/// <summary>The options of a run.</summary>
internal sealed record RunOptions
{
    /// <summary>The calls to make, beyond those of earlier runs on the same directory.</summary>
    public required long Calls { get; init; }

    public required int Kills { get; init; }

    /// <summary>The seed that decides which processes the kills hit and when.</summary>
    public required int Seed { get; init; }

    /// <summary>The directory that holds the log of each immortal and the catalog.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>A run that takes longer has failed.</summary>
    public required TimeSpan Limit { get; init; }

    /// <summary>True in tests of the verdict: it then expects a call that was never made, and must report it.</summary>
    public bool ExpectsLostCall { get; init; }
}
