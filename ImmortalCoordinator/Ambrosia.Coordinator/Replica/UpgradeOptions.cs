namespace Ambrosia.Coordinator.Replica;

/// <summary>Says to which version of its app a replica brings its log, and for how long it tries.</summary>
/// <param name="To">The version.</param>
public sealed record UpgradeOptions(uint To)
{
    /// <summary>A secondary rehearses for so long before it gives up, without having claimed anything.</summary>
    public TimeSpan Within { get; init; } = TimeSpan.FromMinutes(10);

    /// <summary>The conversion and its checkpoint may take so long; then the replica goes on with the version before.</summary>
    public TimeSpan Limit { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A primary that serves makes the upgrade in its own epoch; false: the replica takes over for it.</summary>
    public bool IsInPlace { get; init; }

    /// <summary>
    /// The app of the version before, with its arguments, in a process of its own; empty: one app carries both versions.
    /// </summary>
    public IReadOnlyList<string> OldApp { get; init; } = [];

    /// <summary>The two versions are two builds, each in a process of its own.</summary>
    public bool HasTwoApps => OldApp.Count > 0;
}
