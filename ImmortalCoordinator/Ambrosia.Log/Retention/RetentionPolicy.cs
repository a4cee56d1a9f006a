using System.Globalization;
using Ambrosia.Log.Checkpoints;

namespace Ambrosia.Log.Retention;

/// <summary>
/// Says how much history stays: so many checkpoints, a span of time, or all. Whatever it says, two verified checkpoints and the log from
/// the older one on stay (I14).
/// </summary>
public sealed record RetentionPolicy
{
    public const int CheckpointsMin = 2;

    private RetentionPolicy() { }

    public static RetentionPolicy All { get; } = new() { KeepsAll = true };

    public static RetentionPolicy Default { get; } = OfCheckpoints(CheckpointsMin);

    public bool KeepsAll { get; private init; }

    /// <summary>The number of checkpoints that stay, at least <see cref="CheckpointsMin"/>.</summary>
    public int Checkpoints { get; private init; } = CheckpointsMin;

    /// <summary>Any moment that is not longer ago can be replayed to from a checkpoint; null when time does not count.</summary>
    public TimeSpan? Span { get; private init; }

    public static RetentionPolicy OfCheckpoints(int count)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, CheckpointsMin);
        return new RetentionPolicy { Checkpoints = count };
    }

    public static RetentionPolicy OfSpan(TimeSpan span)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(span, TimeSpan.Zero);
        return new RetentionPolicy { Span = span };
    }

    /// <summary>Returns true when these checkpoints, newest first, are as many as must stay.</summary>
    internal bool IsEnough(IReadOnlyList<CheckpointHeader> kept, DateTimeOffset now)
    {
        if (KeepsAll || kept.Count < Checkpoints) return false;
        return Span is not { } span || DateTimeOffset.UnixEpoch.AddMicroseconds(kept[^1].TimeMicros) <= now - span;
    }

    /// <summary>Returns the policy as it is written on the command line.</summary>
    public override string ToString() =>
        KeepsAll ? "all" : Span is { } span ? $"span={(long)span.TotalSeconds}s"
        : string.Create(CultureInfo.InvariantCulture, $"checkpoints={Checkpoints}");
}
