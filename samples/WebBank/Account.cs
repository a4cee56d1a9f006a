using Ambrosia;

namespace WebBank;

/// <summary>An account, as the bank keeps it.</summary>
public sealed class Account(long number)
{
    public long Number { get; } = number;

    public long Cents { get; set; }

    public long Views { get; set; }

    /// <summary>The number of transfers that wait for their time.</summary>
    public int Planned { get; set; }

    /// <summary>The cancellation that calls these transfers off.</summary>
    public CallCancellation Plans { get; set; } = new();
}
