using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>Holds what the replay of a part of a log by other code has come to.</summary>
internal sealed record ReplayReport
{
    /// <summary>Everything from here to <see cref="Until"/> was executed.</summary>
    public required Lsn From { get; init; }

    public required MessagePlace Until { get; init; }

    public ReplayOutcome Outcome => Differences.Count > 0 ? ReplayOutcome.Different
        : CallsCompared == 0 && StatesCompared == 0 && DigestsAgreed == 0 ? ReplayOutcome.NotComparable : ReplayOutcome.Alike;

    /// <summary>So many records were executed.</summary>
    public long Records { get; init; }

    /// <summary>Calls, results and answers that were held, one by one, against what was emitted then.</summary>
    public ulong CallsCompared { get; init; }

    /// <summary>At so many places of the log the hash of all that was emitted is the recorded one.</summary>
    public long DigestsAgreed { get; init; }

    /// <summary>Places at which the states were compared.</summary>
    public int StatesCompared { get; init; }

    /// <summary>What nothing was held against, by whom it goes to; the callers outside are the empty name.</summary>
    public IReadOnlyDictionary<string, ulong> NotCompared { get; init; } = new Dictionary<string, ulong>();

    public IReadOnlyList<ReplayDifference> Differences { get; init; } = [];

    /// <summary>Each handler was executed so long; the longest comes first.</summary>
    public IReadOnlyList<HandlerTiming> Timings { get; init; } = [];

    /// <summary>Why the replay has ended before its end; null: it has not, or it was to end at this difference.</summary>
    public string? EndedBecause { get; init; }

    public double Seconds { get; init; }

    /// <summary>The log was written in this time; null: it is not known.</summary>
    public double? OriginalSeconds { get; init; }
}

/// <summary>Tells how a replay has ended.</summary>
internal enum ReplayOutcome { Alike, Different, NotComparable }

/// <summary>Describes a difference between two executions of a log.</summary>
/// <param name="Place">Everything before is executed alike.</param>
/// <param name="IsExact">The message at the place makes the difference; false: it, or one of those behind it.</param>
/// <param name="Message">What stands at the place.</param>
/// <param name="Then">What was done; null: it is not known.</param>
/// <param name="Now">What the build does instead.</param>
internal sealed record ReplayDifference(MessagePlace Place, bool IsExact, string Message, string? Then, string Now)
{
    /// <summary>The values of the state that differ, by their paths.</summary>
    public IReadOnlyList<string> State { get; init; } = [];
}
