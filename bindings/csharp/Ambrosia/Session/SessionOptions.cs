using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>What a session is told from outside; it reads no environment itself.</summary>
public sealed record SessionOptions
{
    /// <summary>32 bytes: the content of the token file.</summary>
    public required ReadOnlyMemory<byte> Token { get; init; }

    /// <summary>Version of the app's code, in the log's headers and in upgrades.</summary>
    public uint AppVersion { get; init; } = 1;

    public uint ProcessId { get; init; }

    /// <summary>Bytes of impulses that wait to be sent before their senders do.</summary>
    public int ImpulseBytesMax { get; init; } = 1024 * 1024;

    /// <summary>
    /// Suspended methods whose IL differs from that of the checkpoint's build go on if their source, fields and number of awaits are the
    /// same: the operator's word after a change of compiler. Not enough between Debug and Release.
    /// </summary>
    public bool AcceptSource { get; init; }

    /// <summary>
    /// How often a query is held against the state before and behind it; null: always where the app was built for debugging, else sampled.
    /// </summary>
    public QueryChecking? QueryChecking { get; init; }

    /// <summary>Runs the bodies of NondetTasks; null: an immortal that begins one fails.</summary>
    internal ITaskRunner? TaskRunner { get; init; }

    /// <summary>One line for the operator.</summary>
    public Action<string> Log { get; init; } = static _ => { };

    /// <summary>A line that the immortal wrote to its <c>Logger</c>. Called by any thread.</summary>
    public Action<LogLevel, string> LogOfImmortal { get; init; } = static (_, _) => { };

    /// <summary>The immortal's lines come from replay and from secondaries too.</summary>
    public bool LogsDuringReplay { get; init; }
}
