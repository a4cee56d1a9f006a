namespace Ambrosia.Perf;

/// <summary>What a receiver knows of one sender's messages in a round.</summary>
[Data]
public sealed class Lane
{
    public int Round { get; set; }

    /// <summary>Messages of the round.</summary>
    public ulong Expected { get; set; }

    public ulong Taken { get; set; }

    /// <summary>The count at which there is something to tell: half of the round, then its end.</summary>
    public ulong Next { get; set; }

    public long Bytes { get; set; }

    /// <summary>Messages that were not the next one.</summary>
    public long Disorder { get; set; }
}
