namespace Ambrosia.Perf;

/// <summary>How the processes of a measurement run.</summary>
/// <param name="Directory">For the logs; made when it is not there.</param>
/// <param name="Limit">For one step of a measurement.</param>
internal sealed record ClusterOptions(string Directory, TimeSpan Limit)
{
    private const string MemoryFileSystem = "/dev/shm";

    public LogKind Log { get; init; }

    /// <summary>The coordinator's program: a published one starts faster than the one that is built beside this.</summary>
    public string Coordinator { get; init; } = Path.Combine(AppContext.BaseDirectory, "ImmortalCoordinator");

    public LocalHop Local { get; init; }

    /// <summary>Log bytes between checkpoints, as the coordinator's command line has it.</summary>
    public string CheckpointEvery { get; init; } = "256M";

    /// <summary>Further options of an instance's coordinator; asked for at each start.</summary>
    public Func<string, IReadOnlyList<string>> OptionsOf { get; init; } = static _ => [];

    /// <summary>Program and arguments of an instance's app in place of this program; null: this one is.</summary>
    public Func<string, IReadOnlyList<string>?> AppOf { get; init; } = static _ => null;

    /// <summary>Each receiver of a stream has a second replica, which follows.</summary>
    public bool HasStandbys { get; init; }

    public CancellationToken Stop { get; init; }

    /// <summary>Lines that somebody should see while it runs.</summary>
    public Action<string> Report { get; init; } = static _ => { };

    /// <summary>A part of the whole measurement is done, from 0 to 1.</summary>
    public Action<double> Advance { get; init; } = static _ => { };

    public string Durability => Log switch
    {
        LogKind.Durable =>
            "durable: each message is written to the receiver's log, flushed (fdatasync) and fence-checked before its handler runs; calls to oneself, impulses and answers likewise in the sender's",
        LogKind.Buffered =>
            "NOT durable: each message is written to the receiver's log and not flushed; it survives the processes, not the machine",
        _ => "NOT durable: the logs are in memory (tmpfs), with no disk below; the path is the same",
    };

    /// <summary>A directory of this process for logs that have no disk below.</summary>
    /// <exception cref="FailedRoundException">There is no such file system.</exception>
    public static string MemoryDirectory(string name) => System.IO.Directory.Exists(MemoryFileSystem)
        ? Path.Combine(MemoryFileSystem, name)
        : throw new FailedRoundException($"--log off needs a file system in memory at {MemoryFileSystem}, and there is none");
}
