using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Tells where a replica's app died last, or where the replica was last found diverged, for whoever looks at the log at that place.
/// </summary>
/// <param name="TimeUs">When it was written, in µs since 1970.</param>
/// <param name="AppVersion">The version that the app stated; 0: none.</param>
/// <param name="Place">The record that was being executed: everything below it had been. What the app had not reported may lie between,
/// at most 1 MiB of the log.</param>
/// <param name="Index">The message in the record; null: the app had not said it.</param>
public sealed record Incident(string Replica, long TimeUs, uint AppVersion, ulong Place, uint? Index)
{
    /// <summary>The build that the app stated, in hexadecimal; null: none.</summary>
    public string? Build { get; init; }

    /// <summary>The code with which an app that died ended, above 128 for a signal; null: it is a divergence.</summary>
    public int? ExitCode { get; init; }

    /// <summary>
    /// The place up to which all was as the log says, while at <see cref="To"/> it was not; null: it is not known, or it is a death.
    /// </summary>
    public ulong? From { get; init; }

    public ulong? To { get; init; }

    /// <summary>The state differs, and no call does. False too where it is not known.</summary>
    public bool IsOfState { get; init; }

    /// <summary>The line with which a diverged replica ended; it names the call that differs where that was found.</summary>
    public string? Why { get; init; }

    /// <summary>The signal that ended the app; null: none did.</summary>
    public int? Signal => ExitCode > EndedBySignal ? ExitCode - EndedBySignal : null;

    /// <summary>The place as other commands take it.</summary>
    public string At => Index is { } index ? new MessagePlace(new Lsn(Place), index).ToString() : $"{Place}";

    internal const int EndedBySignal = 128;
}
