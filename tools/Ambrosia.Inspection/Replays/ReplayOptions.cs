using Ambrosia.Inspection.Upgrades;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>Says which builds execute which part of a log, in the words of the person who asks.</summary>
internal sealed record ReplayOptions
{
    /// <summary>The directory of the log, or of a copy of it.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>Starts the build that is tried, with its arguments.</summary>
    public required IReadOnlyList<string> App { get; init; }

    /// <summary>Starts the build that it is held against; empty: it is held against what logs say.</summary>
    public IReadOnlyList<string> Old { get; init; } = [];

    /// <summary>Nobody reads what the apps write.</summary>
    public bool IsQuiet { get; init; }

    /// <summary>
    /// The place where it begins; null: the oldest that can be executed, or the newest checkpoint where a live log is followed.
    /// </summary>
    public string? From { get; init; }

    /// <summary>The place before which it ends; null: the end of the log.</summary>
    public string? Until { get; init; }

    /// <summary>At the end of the log it waits for more.</summary>
    public bool Follows { get; init; }

    /// <summary>The build that is tried is the next version, and begins with what becomes of the old state; null: it is not.</summary>
    public TriedUpgrade? Upgrade { get; init; }

    /// <summary>It ends at the difference of this number.</summary>
    public int StopAt { get; init; } = 1;

    /// <summary>Says where the log of another instance is; null: nobody knows.</summary>
    public Func<InstanceId, string?> DirectoryOf { get; init; } = static _ => null;
}
