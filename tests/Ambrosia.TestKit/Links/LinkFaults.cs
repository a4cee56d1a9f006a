namespace Ambrosia.TestKit;

/// <summary>
/// What a <see cref="FaultyRelay"/> does to the connections through it. Each fault strikes one way of a connection when a random number
/// of bytes, from 1 to its bound, has passed that way; 0: never.
/// </summary>
public sealed record LinkFaults
{
    /// <summary>Bytes arrive in pieces of at most so many; 1 splits everything.</summary>
    public int PieceBytesMax { get; init; } = 64 << 10;

    /// <summary>Each piece waits a random time up to this.</summary>
    public TimeSpan DelayMax { get; init; }

    /// <summary>The connection ends, in the middle of whatever it carries: by turns with and without a reset.</summary>
    public int CutWithinBytes { get; init; }

    /// <summary>One way stands still for <see cref="StallFor"/>; what was sent waits.</summary>
    public int StallWithinBytes { get; init; }

    public TimeSpan StallFor { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Neither side hears the other any more, and neither is told: only silence shows it.</summary>
    public int HalfOpenWithinBytes { get; init; }

    /// <summary>After so many strikes the relay passes everything on unharmed.</summary>
    public int StrikesMax { get; init; } = int.MaxValue;
}
