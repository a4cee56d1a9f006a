using System.Text.Json.Serialization;

namespace Ambrosia.Perf;

/// <summary>One round of one leg that was found right: count, bytes and order.</summary>
/// <param name="Messages">Of all lanes.</param>
/// <param name="Seconds">From the first sender's first message to the last receiver's last.</param>
/// <param name="Used">By all processes of the leg meanwhile.</param>
internal sealed record StreamRound(long Messages, int Bytes, double Seconds, Usage Used)
{
    /// <summary>Milliseconds that the fixed work took just before.</summary>
    public double SpinnerMs { get; init; }

    /// <summary>From the moment at which each impulse was to be sent to its handler, where there were any.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public Latencies? Impulses { get; init; }

    /// <summary>By the one that <see cref="AmbrosiaLeg"/> was asked to tell apart.</summary>
    [JsonIgnore]
    public HubUsage Hub { get; init; }

    [JsonIgnore]
    public double MessagesPerSecond => Messages / Seconds;

    [JsonIgnore]
    public double CpuSecondsPerMillion => Used.CpuSeconds / Messages * 1e6;
}
