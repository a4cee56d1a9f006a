using Ambrosia.Log.Format;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Replica;

/// <summary>Says how one replica runs. Sizes are in bytes.</summary>
public sealed record CoordinatorOptions
{
    /// <summary>The directory of the replica set's log.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>The name of the instance.</summary>
    public required string Instance { get; init; }

    /// <summary>The name of this replica.</summary>
    public string Replica { get; init; } = "r0";

    /// <summary>The place of the catalog.</summary>
    public required CatalogPlace Catalog { get; init; }

    /// <summary>The address and port on which peers are accepted; port 0: any free one.</summary>
    public string Listen { get; init; } = "127.0.0.1:0";

    /// <summary>The address and port that peers dial; null: the ones listened on.</summary>
    public string? Advertise { get; init; }

    /// <summary>The PEM file of this instance's certificate, with its intermediate ones; null: links are not encrypted.</summary>
    public string? TlsCertificate { get; init; }

    /// <summary>The PEM file of its private key.</summary>
    public string? TlsKey { get; init; }

    /// <summary>The PEM file of the authorities that signed the peers' certificates.</summary>
    public string? TlsAuthorities { get; init; }

    /// <summary>Links may leave the machine without being encrypted.</summary>
    public bool Insecure { get; init; }

    /// <summary>The path of the unix socket for the app; null with <see cref="AppPort"/>.</summary>
    public string? AppSocket { get; init; }

    /// <summary>The loopback TCP port for the app; 0: any free one; null: a unix socket.</summary>
    public int? AppPort { get; init; }

    /// <summary>The bytes between app and coordinator go through rings of shared memory (P5.19), beside a unix socket.</summary>
    public bool AppRings { get; init; }

    /// <summary>The instance is made even where the catalog has one of that name.</summary>
    public bool Create { get; init; }

    /// <summary>A checkpoint is due after this much log, or a few times as much of the app's outputs.</summary>
    public long CheckpointEveryBytes { get; init; } = 256L << 20;

    /// <summary>
    /// A checkpoint waits for so many log bytes for a record where no handler is suspended; then it is taken with suspended handlers in
    /// it. 0: for ever; null: a quarter of <see cref="CheckpointEveryBytes"/>, at most 64 MiB.
    /// </summary>
    public long? CheckpointBoundBytes { get; init; }

    /// <summary>The bound that a checkpoint mark states.</summary>
    public ulong MarkBoundBytes => (ulong)(CheckpointBoundBytes ?? Math.Clamp(CheckpointEveryBytes / 4, 1, 64L << 20));

    /// <summary>A checkpoint is due after this much time, if the log has grown; null: time does not count.</summary>
    public TimeSpan? CheckpointInterval { get; init; }

    /// <summary>The policy that says how much history stays.</summary>
    public RetentionPolicy Retention { get; init; } = RetentionPolicy.Default;

    /// <summary>A reader may keep what should go from being removed for so long, and for so much log.</summary>
    public HoldLimit HoldLimit { get; init; } = HoldLimit.Default;

    /// <summary>The policy for forks and impulses whose handler throws; a Policy record states it at each start as primary.</summary>
    public ForkPolicy ForkPolicy { get; init; } = ForkPolicy.Continue;

    /// <summary>
    /// The longest message, in bytes, that is taken from peers and callers, and that the app may send; a Policy record states it at each
    /// start as primary.
    /// </summary>
    public uint MessageBytesMax { get; init; } = SizeLimits.MessageBytesMaxDefault;

    /// <summary>
    /// The answer to a keyed call from outside is kept for so long, of log time; a Policy record states it, and the next two, at each
    /// start as primary.
    /// </summary>
    public TimeSpan KeyWindow { get; init; } = TimeSpan.FromHours(24);

    /// <summary>At most so many answers to keyed calls are kept, the newest.</summary>
    public long KeysMax { get; init; } = 100_000;

    /// <summary>At most so many bytes of keys and answers are kept.</summary>
    public long KeyBytesMax { get; init; } = 64L << 20;

    /// <summary>The memory for outputs that are not yet trimmed.</summary>
    public long OutboxBytes { get; init; } = 64L << 20;

    /// <summary>The disk for outputs that do not fit that memory; when it is full, the app waits.</summary>
    public long ScratchBytes { get; init; } = 16L << 30;

    /// <summary>The app to start and restart, with its arguments; empty: it comes by itself.</summary>
    public IReadOnlyList<string> App { get; init; } = [];

    /// <summary>The form in which events are written.</summary>
    public EventEncoding EventEncoding { get; init; }

    /// <summary>The events in text name the instance, because several coordinators write to one output.</summary>
    public bool NamesItsEvents { get; init; }

    /// <summary>
    /// A secondary takes over from a primary whose heartbeat stands still for so long though it holds its lock; a primary that has not read
    /// the fence for half of it is silent until it has.
    /// </summary>
    public TimeSpan HangLimit { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>Operators are told of a record that the app has been executing for so long.</summary>
    public TimeSpan HandlerWarning { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A primary that is asked to end takes so much time at most for a last checkpoint.</summary>
    public TimeSpan StopWithin { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// A primary that is asked to end goes on for so long at most until the callers outside have the answers to what is logged of theirs;
    /// zero: it ends at once, and whoever goes on answers.
    /// </summary>
    public TimeSpan DrainWithin { get; init; }

    /// <summary>
    /// An app whose build begins with these digits may execute recorded inputs otherwise than they were executed; null: none may.
    /// </summary>
    public string? AcceptBuild { get; init; }

    /// <summary>The upgrade of the app that this replica is to make; null: none.</summary>
    public UpgradeOptions? Upgrade { get; init; }

    /// <summary>The app states this version instead of the one in its code; null: that one.</summary>
    public uint? AppVersion { get; init; }

    /// <summary>
    /// The directory of what belongs to this machine alone: the sockets, the app's token, and outputs that do not fit into memory; null:
    /// the log's.
    /// </summary>
    public string? Run { get; init; }

    /// <summary>What belongs to this machine alone stands here: in <see cref="Run"/> in a directory of this replica.</summary>
    public string RunDirectory => Run is null ? LogDirectory : Path.Combine(Run, $"{Instance}.{Replica}");

    /// <summary>
    /// No replica on another machine has the log, so that this one may claim it although nobody is there who could prove that both see the
    /// same names (log-format L7.10). Means nothing where only one machine can have the directory.
    /// </summary>
    public bool IsAlone { get; init; }

    /// <summary>This replica claims the log whatever locks say, so that several coordinators fight for it. Only tests set it.</summary>
    public bool IgnoreLock { get; init; }

    public LogOptions Log { get; init; } = new();

    /// <summary>
    /// For tests only: where machines share the log's directory this replica claims it without the proof of log-format L7.10, so that the
    /// proof's negative controls show what it is for. An event tells of it at every start.
    /// </summary>
    public bool UnsafeNoProof { get; init; }

    /// <summary>
    /// For measurements only: nothing is flushed, so a machine that stops loses what was acknowledged. An event tells of it at every start.
    /// </summary>
    public bool UnsafeNoFlush { get; init; }
}
