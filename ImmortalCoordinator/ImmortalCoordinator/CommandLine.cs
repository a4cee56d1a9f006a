using Ambrosia.Coordinator;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace ImmortalCoordinator;

/// <summary>Options of the coordinator, their defaults, and what is wrong with a value.</summary>
internal static class CommandLine
{
    private const long SegmentBytesMin = 2 << 20, SegmentBytesMax = 16L << 30, MessageBytesMin = 64 << 10;

    private static readonly CommandOption log = new("--log", "Directory of the instance's log; made when it is not there.") { Value = "DIR", IsRequired = true, WhatIsWrong = static v => v.Length == 0 ? "the directory of --log is empty; give a path" : null };
    private static readonly CommandOption instance = new("--instance", "Name of the instance; default: the directory's name.") { Value = "NAME", WhatIsWrong = static v => Names.IsValid(v) ? null : BadName("--instance", v) };
    private static readonly CommandOption replica = new("--replica", "Name of this replica.") { Value = "NAME", Default = "r0", WhatIsWrong = static v => Names.IsValid(v) ? null : BadName("--replica", v) };
    private static readonly CommandOption catalog = new("--catalog", "Directory of the catalog; default: 'catalog' beside the log.") { Value = "DIR", WhatIsWrong = static v => v.Length == 0 ? "the directory of --catalog is empty; give a path" : null };
    private static readonly CommandOption appSocket = new("--app-socket", "Unix socket for the app; default: in the log's directory.") { Value = "PATH", WhatIsWrong = static v => v.Length == 0 ? "the path of --app-socket is empty; give one" : null };
    private static readonly CommandOption appPort = new("--app-port", "Loopback TCP port for the app instead of a unix socket; 0: any free one.") { Value = "N", WhatIsWrong = static v => OptionValues.TryParsePort(v, out _) ? null : $"'{v}' of --app-port is no port; give 0 to 65535" };
    private static readonly CommandOption create = new("--create", "Begin a new log although the catalog has an instance of this name.");
    private static readonly CommandOption checkpointEvery = new("--checkpoint-every", "Log bytes between checkpoints: a number with K, M or G.") { Value = "SIZE", Default = "256M", WhatIsWrong = static v => OptionValues.TryParseSize(v, out _) ? null : $"'{v}' of --checkpoint-every is no size; write it like 64M or 1G" };
    private static readonly CommandOption checkpointInterval = new("--checkpoint-interval", "Time between checkpoints of a log that grows, beside --checkpoint-every: a number with s, m, h or d; default: size alone counts.") { Value = "TIME", WhatIsWrong = static v => OptionValues.TryParseTime(v, out _) ? null : $"'{v}' of --checkpoint-interval is no time; write it like 30s, 10m or 2h" };
    private static readonly CommandOption checkpointBound = new("--checkpoint-bound", "Log bytes for which a checkpoint waits until no handler is suspended, before it is taken with suspended handlers in it; 0: for ever; default: a quarter of --checkpoint-every, at most 64M.") { Value = "SIZE", WhatIsWrong = static v => v == "0" || OptionValues.TryParseSize(v, out _) ? null : $"'{v}' of --checkpoint-bound is no size; write it like 64K or 16M, or 0" };
    private static readonly CommandOption forkPolicy = new("--fork-policy", "What happens where a handler that nobody awaits throws: count it (continue), end the app there (stop), or keep the message for 'ambrosia quarantine' (quarantine).") { Value = "POLICY", Default = "continue", WhatIsWrong = static v => OptionValues.TryParseForkPolicy(v, out _) ? null : $"'{v}' of --fork-policy is none of continue, stop and quarantine" };
    private static readonly CommandOption maxMessage = new("--max-message", "Longest message that the app may send and that is taken from others, from 64K to 1G: a number with K, M or G.") { Value = "SIZE", Default = "64M", WhatIsWrong = static v => OptionValues.TryParseSize(v, out long bytes) && bytes is >= MessageBytesMin and <= Frames.MessageBytesMaxLimit ? null : $"'{v}' of --max-message is no limit of a message; give a size from 64K to 1G" };
    private static readonly CommandOption keyWindow = new("--key-window", "How long, of log time, the answer to a call with a key is kept: a number with s, m, h or d.") { Value = "TIME", Default = "24h", WhatIsWrong = static v => OptionValues.TryParseTime(v, out _) ? null : $"'{v}' of --key-window is no time; write it like 10m, 24h or 7d" };
    private static readonly CommandOption keyCount = new("--key-count", "Answers to calls with keys that are kept at most, the newest; from 1 to 100000000.") { Value = "N", Default = "100000", WhatIsWrong = static v => OptionValues.TryParseCount(v, out _) ? null : $"'{v}' of --key-count is no count; give 1 to 100000000" };
    private static readonly CommandOption keyBytes = new("--key-bytes", "Bytes of keys and their answers that are kept at most: a number with K, M or G.") { Value = "SIZE", Default = "64M", WhatIsWrong = static v => OptionValues.TryParseSize(v, out _) ? null : $"'{v}' of --key-bytes is no size; write it like 16M or 1G" };
    private static readonly CommandOption hangLimit = new("--hang-limit", "Seconds after which a secondary takes over from a primary that holds its lock and does not move.") { Value = "SECONDS", Default = "4", WhatIsWrong = static v => OptionValues.TryParseSeconds(v, out _) ? null : $"{v} of --hang-limit is not from 0.1 to 3600 seconds" };
    private static readonly CommandOption ignoreLock = new("--ignore-lock", "For tests only: become primary whoever is.") { IsHidden = true };
    private static readonly CommandOption logWrite = new("--log-write", "How log pages reach the disk, flushed in any case: past the page cache (direct), through it (buffered), or past it where that is possible (auto).") { Value = "MODE", Default = "auto", WhatIsWrong = static v => OptionValues.TryParseWriteMode(v, out _) ? null : $"'{v}' of --log-write is none of auto, direct and buffered" };
    private static readonly CommandOption segment = new("--segment", "Bytes of a log file, from 2M on: a number with K, M or G.") { Value = "SIZE", Default = "256M", WhatIsWrong = static v => OptionValues.TryParseSize(v, out long bytes) && bytes is >= SegmentBytesMin and <= SegmentBytesMax && bytes % 4096 == 0 ? null : $"'{v}' of --segment is no size of a log file; give a multiple of 4K from 2M to 16G" };
    private static readonly CommandOption retain = new("--retain", "History that stays: checkpoints=N (2 or more), span=TIME, or all.") { Value = "POLICY", Default = "checkpoints=2", WhatIsWrong = static v => OptionValues.TryParseRetention(v, out _) ? null : $"'{v}' of --retain is no policy; write checkpoints=N with N from 2 to 1000, span=TIME like span=7d, or all" };
    private static readonly CommandOption json = new("--json", "Lines as JSON objects.");
    private static readonly CommandOption unsafeNoFlush = new("--unsafe-no-flush", "For measurements only: flush nothing.") { IsHidden = true };

    public static readonly CommandOption[] All =
    [
        log, instance, replica, catalog, appSocket, appPort, create, checkpointEvery, checkpointInterval, checkpointBound, retain, forkPolicy, maxMessage, keyWindow, keyCount, keyBytes, logWrite, segment, hangLimit, ignoreLock, json, unsafeNoFlush,
        .. LinkOptions.All,
    ];

    /// <summary>What stands before the first -- is ours; the rest is the app's and is not looked into.</summary>
    public static GivenOptions Parse(string[] args, out string[] app)
    {
        int dashes = Array.IndexOf(args, "--");
        app = dashes < 0 ? [] : args[(dashes + 1)..];
        var given = new GivenOptions(All, dashes < 0 ? args : args.AsSpan(0, dashes));
        if (given.Has(appSocket) && given.Has(appPort)) given.AddError("--app-socket and --app-port exclude each other; give one");
        if (!given.Has(instance) && given.Get(log) is { Length: > 0 } directory && !Names.IsValid(NameOf(directory)))
            given.AddError($"'{NameOf(directory)}', the name of the log's directory, is no name for an instance (letters, digits, '_', '-', at most 63); give one with --instance");
        given.AddError(LinkOptions.WhatIsWrong(given));
        given.AddError(AppCommand.WhatIsWrong(app));
        return given;
    }

    private static string BadName(string option, string value) =>
        $"'{value}' of {option} is no name: 1 to 63 letters, digits, '_' or '-', beginning with a letter or digit";

    private static string NameOf(string directory) => Path.GetFileName(Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory)));

    private static string? Full(string? path) => path is null ? null : Path.GetFullPath(path);

    /// <summary>Of a command line without errors.</summary>
    public static CoordinatorOptions OptionsOf(GivenOptions given, string[] app)
    {
        string directory = Path.TrimEndingDirectorySeparator(Path.GetFullPath(given.GetNeeded(log)));
        OptionValues.TryParseSize(given.GetNeeded(checkpointEvery), out long every);
        OptionValues.TryParseSize(given.GetNeeded(segment), out long segmentBytes);
        OptionValues.TryParseSize(given.GetNeeded(maxMessage), out long messageBytes);
        OptionValues.TryParseTime(given.GetNeeded(keyWindow), out TimeSpan window);
        OptionValues.TryParseCount(given.GetNeeded(keyCount), out long keys);
        OptionValues.TryParseSize(given.GetNeeded(keyBytes), out long bytesOfKeys);
        OptionValues.TryParseWriteMode(given.GetNeeded(logWrite), out LogWriteMode writeMode);
        OptionValues.TryParseForkPolicy(given.GetNeeded(forkPolicy), out ForkPolicy policy);
        OptionValues.TryParseSeconds(given.GetNeeded(hangLimit), out double hang);
        return new CoordinatorOptions
        {
            LogDirectory = directory,
            Instance = given.Get(instance) ?? NameOf(directory),
            Replica = given.GetNeeded(replica),
            CatalogDirectory = Path.GetFullPath(given.Get(catalog) ?? Path.Combine(Path.GetDirectoryName(directory) ?? "/", "catalog")),
            Listen = given.GetNeeded(LinkOptions.Listen),
            Advertise = given.Get(LinkOptions.Advertise),
            TlsCertificate = Full(given.Get(LinkOptions.Certificate)),
            TlsKey = Full(given.Get(LinkOptions.Key)),
            TlsAuthorities = Full(given.Get(LinkOptions.Authorities)),
            Insecure = given.Has(LinkOptions.Insecure),
            AppSocket = Full(given.Get(appSocket)),
            AppPort = given.Get(appPort) is { } text && OptionValues.TryParsePort(text, out int port) ? port : null,
            Create = given.Has(create),
            CheckpointEveryBytes = every,
            Log = new LogOptions { SegmentBytes = segmentBytes, WriteMode = writeMode },
            CheckpointInterval = given.Get(checkpointInterval) is { } time && OptionValues.TryParseTime(time, out TimeSpan interval) ? interval : null,
            CheckpointBoundBytes = given.Get(checkpointBound) is { } size ? OptionValues.TryParseSize(size, out long bound) ? bound : 0 : null,
            ForkPolicy = policy,
            KeyWindow = window,
            KeysMax = keys,
            KeyBytesMax = bytesOfKeys,
            MessageBytesMax = (uint)messageBytes,
            HangLimit = TimeSpan.FromSeconds(hang),
            IgnoreLock = given.Has(ignoreLock),
            Retention = OptionValues.TryParseRetention(given.GetNeeded(retain), out RetentionPolicy? kept) ? kept : RetentionPolicy.Default,
            Json = given.Has(json),
            UnsafeNoFlush = given.Has(unsafeNoFlush),
            App = app,
        };
    }
}
