namespace Ambrosia.Inspection.Upgrades;

/// <summary>Says which upgrade is tried, in the words of the person who asks.</summary>
internal sealed record UpgradeTrialOptions
{
    /// <summary>The directory of the log, or of a copy of it.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>Starts the app of the new version, with its arguments.</summary>
    public required IReadOnlyList<string> App { get; init; }

    /// <summary>Starts the build that has executed the log so far; empty: the new app carries that version, too.</summary>
    public IReadOnlyList<string> OldApp { get; init; } = [];

    /// <summary>The version that the new app states.</summary>
    public required uint To { get; init; }

    /// <summary>
    /// The place where the new version begins to execute recorded inputs; null: the oldest checkpoint of the version in force.
    /// </summary>
    public string? From { get; init; }

    /// <summary>At the end of a live log it waits for more.</summary>
    public bool Follows { get; init; }

    /// <summary>A conversion may take so long.</summary>
    public TimeSpan Limit { get; init; } = TimeSpan.FromSeconds(10);
}
