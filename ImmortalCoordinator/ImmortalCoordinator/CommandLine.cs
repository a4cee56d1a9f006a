using System.CommandLine;
using System.CommandLine.Parsing;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using Ambrosia.Coordinator;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace ImmortalCoordinator;

/// <summary>Options of the coordinator, their defaults, and what is wrong with a value.</summary>
internal static class CommandLine
{
    private const long SegmentBytesMin = 2 << 20, SegmentBytesMax = 16L << 30, MessageBytesMin = 64 << 10;

    private static readonly Option<string> log = new("--log") { Description = "Directory of the instance's log; made when it is not there.", Required = true, HelpName = "DIR" };
    private static readonly Option<string?> instance = new("--instance") { Description = "Name of the instance; default: the directory's name.", HelpName = "NAME" };
    private static readonly Option<string> replica = new("--replica") { Description = "Name of this replica.", HelpName = "NAME", DefaultValueFactory = static _ => "r0" };
    private static readonly Option<string?> catalog = new("--catalog") { Description = "Directory of the catalog; default: 'catalog' beside the log.", HelpName = "DIR" };
    private static readonly Option<string?> appSocket = new("--app-socket") { Description = "Unix socket for the app; default: in the log's directory.", HelpName = "PATH" };
    private static readonly Option<int?> appPort = new("--app-port") { Description = "Loopback TCP port for the app instead of a unix socket; 0: any free one.", HelpName = "N", CustomParser = Port };
    private static readonly Option<bool> create = new("--create") { Description = "Begin a new log although the catalog has an instance of this name." };
    private static readonly Option<string> checkpointEvery = new("--checkpoint-every") { Description = "Log bytes between checkpoints: a number with K, M or G.", HelpName = "SIZE", DefaultValueFactory = static _ => "256M" };
    private static readonly Option<string?> checkpointInterval = new("--checkpoint-interval") { Description = "Time between checkpoints of a log that grows, beside --checkpoint-every: a number with s, m, h or d; default: size alone counts.", HelpName = "TIME" };
    private static readonly Option<string?> checkpointBound = new("--checkpoint-bound") { Description = "Log bytes for which a checkpoint waits until no handler is suspended, before it is taken with suspended handlers in it; 0: for ever; default: a quarter of --checkpoint-every, at most 64M.", HelpName = "SIZE" };
    private static readonly Option<string> forkPolicy = new("--fork-policy") { Description = "What happens where a handler that nobody awaits throws: count it (continue), end the app there (stop), or keep the message for 'ambrosia quarantine' (quarantine).", HelpName = "POLICY", DefaultValueFactory = static _ => "continue" };
    private static readonly Option<string> maxMessage = new("--max-message") { Description = "Longest message that the app may send and that is taken from others, from 64K to 1G: a number with K, M or G.", HelpName = "SIZE", DefaultValueFactory = static _ => "64M" };
    private static readonly Option<double> hangLimit = new("--hang-limit") { Description = "Seconds after which a secondary takes over from a primary that holds its lock and does not move.", HelpName = "SECONDS", DefaultValueFactory = static _ => 4 };
    private static readonly Option<bool> ignoreLock = new("--ignore-lock") { Description = "For tests only: become primary whoever is.", Hidden = true };
    private static readonly Option<string> logWrite = new("--log-write") { Description = "How log pages reach the disk, flushed in any case: past the page cache (direct), through it (buffered), or past it where that is possible (auto).", HelpName = "MODE", DefaultValueFactory = static _ => "auto" };
    private static readonly Option<string> segment = new("--segment") { Description = "Bytes of a log file, from 2M on: a number with K, M or G.", HelpName = "SIZE", DefaultValueFactory = static _ => "256M" };
    private static readonly Option<string> retain = new("--retain") { Description = "History that stays: checkpoints=N (2 or more), span=TIME, or all.", HelpName = "POLICY", DefaultValueFactory = static _ => "checkpoints=2" };
    private static readonly Option<bool> json = new("--json") { Description = "Lines as JSON objects." };
    private static readonly Option<bool> unsafeNoFlush = new("--unsafe-no-flush") { Description = "For measurements only: flush nothing.", Hidden = true };
    private static readonly Argument<string[]> stray = new("app") { Description = "Behind --: the app to start and restart, with its arguments.", Arity = ArgumentArity.ZeroOrMore, HelpName = "-- APP ARGS" };

    /// <summary>What stands before the first -- is ours; the rest is the app's and is not looked into.</summary>
    /// <param name="run">What is done with the options.</param>
    public static ParseResult Parse(string[] args, Func<CoordinatorOptions, int> run)
    {
        int dashes = Array.IndexOf(args, "--");
        return dashes < 0 ? Build([], run).Parse(args) : Build(args[(dashes + 1)..], run).Parse(args[..dashes]);
    }

    private static RootCommand Build(string[] app, Func<CoordinatorOptions, int> run)
    {
        Check(log, static v => v.Length == 0 ? "the directory of --log is empty; give a path" : null);
        Check(instance, static v => v is null || Names.IsValid(v) ? null : BadName("--instance", v));
        Check(replica, static v => Names.IsValid(v) ? null : BadName("--replica", v));
        Check(hangLimit, static v => v is >= 0.1 and <= 3600 ? null : $"{v.ToString(CultureInfo.InvariantCulture)} of --hang-limit is not from 0.1 to 3600 seconds");
        Check(forkPolicy, static v => ForkPolicyOf(v) is null ? $"'{v}' of --fork-policy is none of continue, stop and quarantine" : null);
        Check(maxMessage, static v => TryParseSize(v, out long bytes) && bytes is >= MessageBytesMin and <= Frames.MessageBytesMaxLimit ? null : $"'{v}' of --max-message is no limit of a message; give a size from 64K to 1G");
        Check(logWrite, static v => WriteModeOf(v) is null ? $"'{v}' of --log-write is none of auto, direct and buffered" : null);
        Check(segment, static v => TryParseSize(v, out long bytes) && bytes is >= SegmentBytesMin and <= SegmentBytesMax && bytes % 4096 == 0 ? null : $"'{v}' of --segment is no size of a log file; give a multiple of 4K from 2M to 16G");
        Check(checkpointEvery, static v => TryParseSize(v, out _) ? null : $"'{v}' of --checkpoint-every is no size; write it like 64M or 1G");
        Check(checkpointInterval, static v => v is null || TryParseTime(v, out _) ? null : $"'{v}' of --checkpoint-interval is no time; write it like 30s, 10m or 2h");
        Check(checkpointBound, static v => v is null or "0" || TryParseSize(v, out _) ? null : $"'{v}' of --checkpoint-bound is no size; write it like 64K or 16M, or 0");
        Check(retain, static v => TryParseRetention(v, out _) ? null : $"'{v}' of --retain is no policy; write checkpoints=N with N from 2 to 1000, span=TIME like span=7d, or all");
        var root = new RootCommand("Runs beside an app and makes it immortal: logs every input before its effects can be seen.")
        {
            log, instance, replica, catalog, appSocket, appPort, create, checkpointEvery, checkpointInterval, checkpointBound, retain, forkPolicy, maxMessage, logWrite, segment, hangLimit, ignoreLock, json, unsafeNoFlush, stray,
        };
        LinkOptions.AddTo(root);
        root.Validators.Add(result =>
        {
            if (IsGiven(result, appSocket) && IsGiven(result, appPort))
                result.AddError("--app-socket and --app-port exclude each other; give one");
            if (!IsGiven(result, instance) && ValueOf(result, log) is { Length: > 0 } directory && !Names.IsValid(NameOf(directory)))
                result.AddError($"'{NameOf(directory)}', the name of the log's directory, is no name for an instance (letters, digits, '_', '-', at most 63); give one with --instance");
            if (AppCommand.WhatIsWrong(app) is { } wrong) result.AddError(wrong);
        });
        stray.Validators.Add(static result =>
        {
            if (result.Tokens.Count > 0) result.AddError($"'{result.Tokens[0].Value}' is no option; the app and its arguments stand behind --");
        });
        root.SetAction(parsed => run(OptionsOf(parsed, app)));
        return root;
    }

    private static bool IsGiven(CommandResult result, Option option) => result.GetResult(option) is { Implicit: false };

    /// <summary>Null too where the value is missing, which has an error of its own.</summary>
    private static string? ValueOf(CommandResult result, Option<string> option) =>
        result.GetResult(option) is { Tokens.Count: > 0 } given ? given.GetValueOrDefault<string>() : null;

    private static int? Port(ArgumentResult result)
    {
        string text = result.Tokens[0].Value;
        if (ushort.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out ushort port)) return port;
        result.AddError($"'{text}' of --app-port is no port; give 0 to 65535");
        return null;
    }

    private static string BadName(string option, string value) =>
        $"'{value}' of {option} is no name: 1 to 63 letters, digits, '_' or '-', beginning with a letter or digit";

    private static void Check<T>(Option<T> option, Func<T, string?> wrong) => option.Validators.Add(result =>
    {
        if (result.GetValueOrDefault<T>() is { } value && wrong(value) is { } message) result.AddError(message);
    });

    private static string NameOf(string directory) => Path.GetFileName(Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory)));

    private static LogWriteMode? WriteModeOf(string text) => text switch
    {
        "auto" => LogWriteMode.Auto,
        "direct" => LogWriteMode.Direct,
        "buffered" => LogWriteMode.Buffered,
        _ => null,
    };

    private static ForkPolicy? ForkPolicyOf(string text) => text switch
    {
        "continue" => ForkPolicy.Continue,
        "stop" => ForkPolicy.Stop,
        "quarantine" => ForkPolicy.Quarantine,
        _ => null,
    };

    /// <summary>A number of bytes with an optional K, M or G.</summary>
    internal static bool TryParseSize(string text, out long bytes)
    {
        bytes = 0;
        if (text.Length == 0) return false;
        int shift = char.ToUpperInvariant(text[^1]) switch { 'K' => 10, 'M' => 20, 'G' => 30, _ => 0 };
        ReadOnlySpan<char> digits = shift == 0 ? text : text.AsSpan(0, text.Length - 1);
        if (!long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out long number) || number is 0 or > (1L << 50) / 1) return false;
        if (number > long.MaxValue >> shift) return false;
        bytes = number << shift;
        return true;
    }

    /// <summary>A whole number of seconds, minutes, hours or days, with its letter; from 1 s to 10,000 days.</summary>
    internal static bool TryParseTime(string text, out TimeSpan time)
    {
        time = default;
        long seconds = text.Length == 0 ? 0 : text[^1] switch { 's' => 1, 'm' => 60, 'h' => 3_600, 'd' => 86_400, _ => 0 };
        if (seconds == 0 || !long.TryParse(text.AsSpan(0, text.Length - 1), NumberStyles.None, CultureInfo.InvariantCulture, out long number)) return false;
        if (number < 1 || number > 10_000 * 86_400L / seconds) return false;
        time = TimeSpan.FromSeconds(number * seconds);
        return true;
    }

    private static bool TryParseRetention(string text, [NotNullWhen(true)] out RetentionPolicy? policy)
    {
        const string checkpoints = "checkpoints=", span = "span=";
        policy = text == "all" ? RetentionPolicy.All : null;
        if (text.StartsWith(checkpoints, StringComparison.Ordinal) && int.TryParse(text.AsSpan(checkpoints.Length), NumberStyles.None, CultureInfo.InvariantCulture, out int count)
            && count is >= RetentionPolicy.CheckpointsMin and <= 1_000) policy = RetentionPolicy.OfCheckpoints(count);
        if (text.StartsWith(span, StringComparison.Ordinal) && TryParseTime(text[span.Length..], out TimeSpan time)) policy = RetentionPolicy.OfSpan(time);
        return policy is not null;
    }

    private static string? Full(string? path) => path is null ? null : Path.GetFullPath(path);

    private static CoordinatorOptions OptionsOf(ParseResult parsed, string[] app)
    {
        string directory = Path.GetFullPath(parsed.GetRequiredValue(log));
        TryParseSize(parsed.GetRequiredValue(checkpointEvery), out long every);
        TryParseSize(parsed.GetRequiredValue(segment), out long segmentBytes);
        TryParseSize(parsed.GetRequiredValue(maxMessage), out long messageBytes);
        return new CoordinatorOptions
        {
            LogDirectory = Path.TrimEndingDirectorySeparator(directory),
            Instance = parsed.GetValue(instance) ?? NameOf(directory),
            Replica = parsed.GetRequiredValue(replica),
            CatalogDirectory = Path.GetFullPath(parsed.GetValue(catalog) ?? Path.Combine(Path.GetDirectoryName(Path.TrimEndingDirectorySeparator(directory)) ?? "/", "catalog")),
            Listen = parsed.GetRequiredValue(LinkOptions.Listen),
            Advertise = parsed.GetValue(LinkOptions.Advertise),
            TlsCertificate = Full(parsed.GetValue(LinkOptions.Certificate)),
            TlsKey = Full(parsed.GetValue(LinkOptions.Key)),
            TlsAuthorities = Full(parsed.GetValue(LinkOptions.Authorities)),
            Insecure = parsed.GetValue(LinkOptions.Insecure),
            AppSocket = Full(parsed.GetValue(appSocket)),
            AppPort = parsed.GetValue(appPort),
            Create = parsed.GetValue(create),
            CheckpointEveryBytes = every,
            Log = new LogOptions { SegmentBytes = segmentBytes, WriteMode = WriteModeOf(parsed.GetRequiredValue(logWrite))!.Value },
            CheckpointInterval = parsed.GetValue(checkpointInterval) is { } text && TryParseTime(text, out TimeSpan interval) ? interval : null,
            CheckpointBoundBytes = parsed.GetValue(checkpointBound) is { } size ? TryParseSize(size, out long bound) ? bound : 0 : null,
            ForkPolicy = ForkPolicyOf(parsed.GetRequiredValue(forkPolicy))!.Value,
            MessageBytesMax = (uint)messageBytes,
            HangLimit = TimeSpan.FromSeconds(parsed.GetValue(hangLimit)),
            IgnoreLock = parsed.GetValue(ignoreLock),
            Retention = TryParseRetention(parsed.GetRequiredValue(retain), out RetentionPolicy? policy) ? policy : RetentionPolicy.Default,
            Json = parsed.GetValue(json),
            UnsafeNoFlush = parsed.GetValue(unsafeNoFlush),
            App = app,
        };
    }
}
