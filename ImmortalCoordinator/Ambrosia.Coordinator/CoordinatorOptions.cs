using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>How one replica runs. Sizes in bytes.</summary>
public sealed record CoordinatorOptions
{
    /// <summary>Directory of the replica set's log.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>Name of the instance.</summary>
    public required string Instance { get; init; }

    /// <summary>Name of this replica.</summary>
    public string Replica { get; init; } = "r0";

    /// <summary>Directory of the catalog.</summary>
    public required string CatalogDirectory { get; init; }

    /// <summary>Address and port on which peers are accepted; port 0: any free one.</summary>
    public string Listen { get; init; } = "127.0.0.1:0";

    /// <summary>Address and port that peers dial; null: the ones listened on.</summary>
    public string? Advertise { get; init; }

    /// <summary>PEM file of this instance's certificate, with its intermediate ones; null: links are not encrypted.</summary>
    public string? TlsCertificate { get; init; }

    /// <summary>PEM file of its private key.</summary>
    public string? TlsKey { get; init; }

    /// <summary>PEM file of the authorities that signed the peers' certificates.</summary>
    public string? TlsAuthorities { get; init; }

    /// <summary>Links may leave the machine without being encrypted.</summary>
    public bool Insecure { get; init; }

    /// <summary>Path of the unix socket for the app; null with <see cref="AppPort"/>.</summary>
    public string? AppSocket { get; init; }

    /// <summary>Loopback TCP port for the app; 0: any free one; null: a unix socket.</summary>
    public int? AppPort { get; init; }

    /// <summary>Rings of shared memory between app and coordinator (P5.19), beside a unix socket.</summary>
    public bool AppRings { get; init; }

    /// <summary>Make the instance even where the catalog has one of that name.</summary>
    public bool Create { get; init; }

    /// <summary>A checkpoint is due after this much log, or a few times as much of the app's outputs.</summary>
    public long CheckpointEveryBytes { get; init; } = 256L << 20;

    /// <summary>
    /// Log bytes for which a checkpoint waits for a record where no handler is suspended; then it is taken with suspended handlers in it.
    /// 0: for ever; null: a quarter of <see cref="CheckpointEveryBytes"/>, at most 64 MiB.
    /// </summary>
    public long? CheckpointBoundBytes { get; init; }

    /// <summary>What a mark says.</summary>
    public ulong MarkBoundBytes => (ulong)(CheckpointBoundBytes ?? Math.Clamp(CheckpointEveryBytes / 4, 1, 64L << 20));

    /// <summary>A checkpoint is due after this much time, if the log has grown; null: time does not count.</summary>
    public TimeSpan? CheckpointInterval { get; init; }

    /// <summary>How much history stays.</summary>
    public RetentionPolicy Retention { get; init; } = RetentionPolicy.Default;

    /// <summary>What happens where the handler of a fork or impulse throws; a Policy record says it at each start as primary.</summary>
    public ForkPolicy ForkPolicy { get; init; } = ForkPolicy.Continue;

    /// <summary>
    /// Bytes of the longest message that is taken from peers and callers, and that the app may send; a Policy record says it
    /// at each start as primary.
    /// </summary>
    public uint MessageBytesMax { get; init; } = Frames.MessageBytesMaxDefault;

    /// <summary>
    /// For so long, of log time, the answer to a keyed call from outside is kept; a Policy record says it, and what follows,
    /// at each start as primary.
    /// </summary>
    public TimeSpan KeyWindow { get; init; } = TimeSpan.FromHours(24);

    /// <summary>Answers to keyed calls that are kept at most, the newest.</summary>
    public long KeysMax { get; init; } = 100_000;

    /// <summary>Bytes of keys and answers that are kept at most.</summary>
    public long KeyBytesMax { get; init; } = 64L << 20;

    /// <summary>Memory for outputs that are not yet trimmed.</summary>
    public long OutboxBytes { get; init; } = 64L << 20;

    /// <summary>Disk for outputs that do not fit that memory; then the app waits.</summary>
    public long ScratchBytes { get; init; } = 16L << 30;

    /// <summary>The app to start and restart, with its arguments; empty: it comes by itself.</summary>
    public IReadOnlyList<string> App { get; init; } = [];

    /// <summary>Lines as JSON objects.</summary>
    public bool Json { get; init; }

    /// <summary>
    /// A secondary takes over from a primary whose heartbeat stands still for so long though it holds its lock; a primary that has not read
    /// the fence for half of it is silent until it has.
    /// </summary>
    public TimeSpan HangLimit { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>For tests only: claims whatever locks say, so that several coordinators fight for one log.</summary>
    public bool IgnoreLock { get; init; }

    public LogOptions Log { get; init; } = new();

    /// <summary>
    /// For measurements only: nothing is flushed, so a machine that stops loses what was acknowledged. Said aloud at every start.
    /// </summary>
    public bool UnsafeNoFlush { get; init; }
}
