namespace Ambrosia.Perf;

/// <summary>What a sender knows of one of its lanes in a round.</summary>
[Data]
public sealed class SendingLane
{
    public string Receiver { get; set; } = "";

    /// <summary>The lane's number where a message has it.</summary>
    public ulong Bits { get; set; }

    public long Sent { get; set; }
}
