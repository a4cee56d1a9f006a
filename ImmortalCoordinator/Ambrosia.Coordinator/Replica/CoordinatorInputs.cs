using Ambrosia.Log.Commit;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using CRA.Streams;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Replica;

/// <summary>Holds everything that one replica is made from, apart from its log and its wires.</summary>
internal sealed record CoordinatorInputs
{
    public required CoordinatorOptions Options { get; init; }

    public required InstanceIdentity Identity { get; init; }

    public required IFileSystem Files { get; init; }

    /// <summary>The log is here; what a killed process may leave there is tried at the crash points.</summary>
    public LogLocation Location => new(Files, Options.LogDirectory, Identity) { Crash = Crash.Points };

    /// <summary>The app shows this token in its hello.</summary>
    public required ReadOnlyMemory<byte> AppToken { get; init; }

    /// <summary>The old app of an upgrade by two builds shows this one; empty: there is none.</summary>
    public ReadOnlyMemory<byte> OldAppToken { get; init; }

    public required TimeProvider Time { get; init; }

    /// <summary>It tells the time by which timers are due: that of the log, unless the simulator plants another one.</summary>
    public Func<LogWriter, long> TimersClock { get; init; } = static log => log.Clock.NowMicros();

    /// <summary>The seam to chance: it returns numbers from 0 up to 1.</summary>
    public required Func<double> Random { get; init; }

    public required IPumps Pumps { get; init; }

    /// <summary>The bounds over what all who are connected make this process hold.</summary>
    public PeerMemory Memory { get; } = new();

    /// <summary>It takes the events that operators are told. Any thread may log; no call blocks or throws.</summary>
    public required ILogger Logger { get; init; }
}

/// <summary>
/// The bounds over what peers and callers, who are authenticated, make a process hold together, beyond what each connection has of its own:
/// 512 KiB to receive into, and 1 MiB of answers. Any thread.
/// </summary>
internal sealed class PeerMemory
{
    /// <summary>A frame may be as large as this; one that is larger passes while no other is under way.</summary>
    private const long BytesMax = 1L << 30;

    /// <summary>The frames that have come in part.</summary>
    public SharedBytes Receiving { get; } = new(BytesMax);

    /// <summary>The answers that callers have not taken.</summary>
    public SharedBytes Answers { get; } = new(BytesMax);
}
