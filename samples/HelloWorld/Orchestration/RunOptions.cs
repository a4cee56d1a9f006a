namespace HelloWorld.Orchestration;

/// <summary>What a run is to do.</summary>
internal sealed record RunOptions
{
    /// <summary>Calls to make, beyond those of earlier runs on the same directory.</summary>
    public required long Calls { get; init; }

    public required int Kills { get; init; }

    /// <summary>Decides whom the kills hit and when.</summary>
    public required int Seed { get; init; }

    /// <summary>Holds one directory for each immortal's log, and the catalog.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>A run that takes longer has failed.</summary>
    public required TimeSpan Limit { get; init; }

    /// <summary>For tests of the verdict: it expects a call that was never made, and must say so.</summary>
    public bool ExpectsLostCall { get; init; }
}
