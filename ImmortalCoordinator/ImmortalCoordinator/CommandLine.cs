using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using Ambrosia.AppChannel;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using CRA.Catalog;

namespace ImmortalCoordinator;

/// <summary>Defines the options of the coordinator and their defaults, and says what is wrong with a value.</summary>
internal static class CommandLine
{
    private const long SegmentBytesMin = 2 << 20, SegmentBytesMax = 16L << 30, MessageBytesMin = 64 << 10;

    private static readonly TextOption s_log = new("--log", "DIR", "Directory of the instance's log; made when it is not there.")
    {
        Required = true, WhatIsWrong = static v => v.Length == 0 ? "the directory of --log is empty; give a path" : null
    };
    private static readonly TextOption s_instance = new("--instance", "NAME", "Name of the instance; default: the directory's name.")
    {
        WhatIsWrong = static v => Names.IsValid(v) ? null : BadName("--instance", v)
    };
    private static readonly TextOption s_replica = new("--replica", "NAME", "Name of this replica.", "r0")
    {
        WhatIsWrong = static v => Names.IsValid(v) ? null : BadName("--replica", v)
    };
    private static readonly TextOption s_catalog = new("--catalog", "PLACE",
        "Where the catalog is: a directory, etcd://host:port[,host:port]/prefix or azure-tables://account/table; default: the directory 'catalog' beside the log.")
    {
        WhatIsWrong = static v => CatalogPlace.TryParse(v, out string wrong) is null ? wrong : null
    };
    private static readonly TextOption s_appSocket = new("--app-socket", "PATH", "Unix socket for the app; default: in the log's directory.")
    {
        WhatIsWrong = static v => v.Length == 0 ? "the path of --app-socket is empty; give one" : null
    };
    private static readonly TextOption s_appPort = new("--app-port", "N",
        "Loopback TCP port for the app instead of a unix socket; 0: any free one.")
    {
        WhatIsWrong = static v => OptionValues.TryParsePort(v, out _) ? null : $"'{v}' of --app-port is no port; give 0 to 65535"
    };
    private static readonly Option<bool> s_appRings = new("--app-rings")
    {
        Description = "Bytes between app and coordinator go through shared memory instead of the unix socket, which costs less processor time, most of all for small messages (Linux)."
    };
    private static readonly Option<bool> s_create = new("--create")
    {
        Description = "Begin a new log although the catalog has an instance of this name."
    };
    private static readonly TextOption s_checkpointEvery = new("--checkpoint-every", "SIZE",
        "Log bytes between checkpoints, or four times as many of the app's outputs: a number with K, M or G.", "256M")
    {
        WhatIsWrong = static v => OptionValues.TryParseSize(v, out _) ? null
            : $"'{v}' of --checkpoint-every is no size; write it like 64M or 1G"
    };
    private static readonly TextOption s_checkpointInterval = new("--checkpoint-interval", "TIME",
        "Time between checkpoints of a log that grows, beside --checkpoint-every: a number with s, m, h or d; default: size alone counts.")
    {
        WhatIsWrong = static v => OptionValues.TryParseTime(v, out _) ? null
            : $"'{v}' of --checkpoint-interval is no time; write it like 30s, 10m or 2h"
    };
    private static readonly TextOption s_checkpointBound = new("--checkpoint-bound", "SIZE",
        "Log bytes for which a checkpoint waits until no handler is suspended, before it is taken with suspended handlers in it; 0: for ever; default: a quarter of --checkpoint-every, at most 64M.")
    {
        WhatIsWrong = static v => v == "0" || OptionValues.TryParseSize(v, out _) ? null
            : $"'{v}' of --checkpoint-bound is no size; write it like 64K or 16M, or 0"
    };
    private static readonly TextOption s_forkPolicy = new("--fork-policy", "POLICY",
        "What happens where a handler that nobody awaits throws: count it (continue), end the app there (stop), or keep the message for 'ambrosia quarantine' (quarantine).",
        "continue")
    {
        WhatIsWrong = static v => OptionValues.TryParseForkPolicy(v, out _) ? null
            : $"'{v}' of --fork-policy is none of continue, stop and quarantine"
    };
    private static readonly TextOption s_maxMessage = new("--max-message", "SIZE",
        "Longest message that the app may send and that is taken from others, from 64K to 1G: a number with K, M or G.", "64M")
    {
        WhatIsWrong = static v =>
            OptionValues.TryParseSize(v, out long bytes) && bytes is >= MessageBytesMin and <= SizeLimits.MessageBytesMaxLimit ? null
            : $"'{v}' of --max-message is no limit of a message; give a size from 64K to 1G"
    };
    private static readonly TextOption s_keyWindow = new("--key-window", "TIME",
        "How long, of log time, the answer to a call with a key is kept: a number with s, m, h or d.", "24h")
    {
        WhatIsWrong = static v => OptionValues.TryParseTime(v, out _) ? null
            : $"'{v}' of --key-window is no time; write it like 10m, 24h or 7d"
    };
    private static readonly TextOption s_keyCount = new("--key-count", "N",
        "Answers to calls with keys that are kept at most, the newest; from 1 to 100000000.", "100000")
    {
        WhatIsWrong = static v => OptionValues.TryParseCount(v, out _) ? null : $"'{v}' of --key-count is no count; give 1 to 100000000"
    };
    private static readonly TextOption s_keyBytes = new("--key-bytes", "SIZE",
        "Bytes of keys and their answers that are kept at most: a number with K, M or G.", "64M")
    {
        WhatIsWrong = static v => OptionValues.TryParseSize(v, out _) ? null
            : $"'{v}' of --key-bytes is no size; write it like 16M or 1G"
    };
    private static readonly TextOption s_hangLimit = new("--hang-limit", "SECONDS",
        "Seconds after which a secondary takes over from a primary that holds its lock and does not move.", "4")
    {
        WhatIsWrong = static v => OptionValues.TryParseSeconds(v, out _) ? null : $"{v} of --hang-limit is not from 0.1 to 3600 seconds"
    };
    private static readonly TextOption s_handlerWarning = new("--handler-warning", "TIME",
        "How long the app may execute one record before it is named, in an event and by 'ambrosia status': a number with s, m, h or d.", "10s")
    {
        WhatIsWrong = static v => OptionValues.TryParseTime(v, out _) ? null
            : $"'{v}' of --handler-warning is no time; write it like 10s or 5m"
    };
    private static readonly TextOption s_stopWithin = new("--stop-within", "TIME",
        "How long a primary that is asked to end may take for its last checkpoint: a number with s, m, h or d.", "30s")
    {
        WhatIsWrong = static v => OptionValues.TryParseTime(v, out _) ? null
            : $"'{v}' of --stop-within is no time; write it like 30s or 5m"
    };
    private static readonly TextOption s_drainWithin = new("--drain-within", "TIME",
        "How long a primary that is asked to end goes on until callers outside have the answers to what is logged of theirs: a number with s, m, h or d, or 0.",
        "0")
    {
        WhatIsWrong = static v => v == "0" || OptionValues.TryParseTime(v, out _) ? null
            : $"'{v}' of --drain-within is no time; write it like 20s or 1m, or 0"
    };
    private static readonly TextOption s_acceptBuild = new("--accept-build", "BUILD",
        "The build of an app that may execute recorded inputs otherwise than they were executed: 8 hexadecimal digits or more, as the refusal names it.")
    {
        WhatIsWrong = static v => v.Length is >= BuildId.DigitsMin and <= 2 * BuildId.Bytes && v.All(char.IsAsciiHexDigit) ? null
            : $"'{v}' of --accept-build is no build: write 8 to 32 hexadecimal digits, as the line that refused the app has them"
    };
    private static readonly TextOption s_upgradeTo = new("--upgrade-to", "VERSION",
        "The version to which this replica brings its app: it rehearses as a secondary, takes over, and converts the state. The app carries both versions.")
    {
        WhatIsWrong = static v => uint.TryParse(v, NumberStyles.None, CultureInfo.InvariantCulture, out uint version) && version > 1 ? null
            : $"'{v}' of --upgrade-to is no version that an upgrade can bring: write a number from 2 on"
    };
    private static readonly TextOption s_appVersion = new("--app-version", "VERSION",
        "The version that the app is to state instead of the one in its code: an old build goes on behind its successor as a later version ('ambrosia rollback').")
    {
        WhatIsWrong = static v => uint.TryParse(v, NumberStyles.None, CultureInfo.InvariantCulture, out uint version) && version > 1 ? null
            : $"'{v}' of --app-version is no version behind another: write a number from 2 on"
    };
    private static readonly TextOption s_upgradeWithin = new("--upgrade-within", "TIME",
        "How long a secondary rehearses an upgrade that does not work yet, before it ends without having claimed anything: a number with s, m, h or d.",
        "10m")
    {
        WhatIsWrong = static v => OptionValues.TryParseTime(v, out _) ? null
            : $"'{v}' of --upgrade-within is no time; write it like 10s or 5m"
    };
    private static readonly TextOption s_upgradeLimit = new("--upgrade-limit", "TIME",
        "How long converting the state and writing it may take, while callers wait; then the version before goes on: a number with s, m, h or d.",
        "10s")
    {
        WhatIsWrong = static v => OptionValues.TryParseTime(v, out _) ? null
            : $"'{v}' of --upgrade-limit is no time; write it like 10s or 5m"
    };
    private static readonly TextOption s_run = new("--run", "DIR",
        "Directory for what belongs to this machine alone (sockets, the app's token, outputs that do not fit into memory), where the log is on storage that machines share; default: the log's directory.")
    {
        WhatIsWrong = static v => v.Length == 0 ? "the directory of --run is empty; give a path" : null
    };
    private static readonly Option<bool> s_alone = new("--alone")
    {
        Description = "No replica on another machine has this log: where machines share its file system, claim it once nothing has moved there for 60 s, although nobody is there to prove the names coherent with."
    };
    private static readonly TextOption s_oldApp = new("--old-app", "CMD",
        "The old build of the app, with its arguments, as one text: it executes all that lies before the upgrade, and the app behind -- what follows.")
    {
        WhatIsWrong = static v => CommandText.TryParse(v, out _) ? null
            : $"'{v}' of --old-app is no command: write the program and its arguments as one text, those with spaces in double quotes"
    };
    private static readonly Option<bool> s_ignoreLock = new("--ignore-lock")
    {
        Description = "For tests only: become primary whoever is.", Hidden = true
    };
    private static readonly TextOption s_logWrite = new("--log-write", "MODE",
        "How log pages reach the disk, flushed in any case: past the page cache (direct), through it (buffered), or past it where that is possible (auto).",
        "auto")
    {
        WhatIsWrong = static v => OptionValues.TryParseWriteMode(v, out _) ? null
            : $"'{v}' of --log-write is none of auto, direct and buffered"
    };
    private static readonly TextOption s_segment = new("--segment", "SIZE", "Bytes of a log file, from 2M on: a number with K, M or G.",
        "256M")
    {
        WhatIsWrong = static v =>
            OptionValues.TryParseSize(v, out long bytes) && bytes is >= SegmentBytesMin and <= SegmentBytesMax && bytes % 4096 == 0
            ? null : $"'{v}' of --segment is no size of a log file; give a multiple of 4K from 2M to 16G"
    };
    private static readonly TextOption s_retain = new("--retain", "POLICY",
        "History that stays: checkpoints=N (2 or more), span=TIME, or all.", "checkpoints=2")
    {
        WhatIsWrong = static v => OptionValues.TryParseRetention(v, out _) ? null
            : $"'{v}' of --retain is no policy; write checkpoints=N with N from 2 to 1000, span=TIME like span=7d, or all"
    };
    private static readonly TextOption s_holdLimit = new("--hold-limit", "TIME,SIZE",
        "How long, and for how much log, a reader or a stopped replica may keep history that should go: a time and a size.", "1h,16G")
    {
        WhatIsWrong = static v => OptionValues.TryParseHoldLimit(v, out _) ? null
            : $"'{v}' of --hold-limit is not a time and a size; write both, like 1h,16G"
    };
    private static readonly TextOption s_logFormat = new("--log-format", "FORMAT",
        "How events are written to the standard output: lines for people and the journal (text), or an object a line (json).", "text")
    {
        WhatIsWrong = static v => OptionValues.TryParseLogFormat(v, out _) ? null : $"'{v}' of --log-format is neither text nor json"
    };
    private static readonly Option<bool> s_unsafeNoFlush = new("--unsafe-no-flush")
    {
        Description = "For measurements only: flush nothing.", Hidden = true
    };
    private static readonly Option<bool> s_unsafeNoProof = new("--unsafe-no-proof")
    {
        Description = "For tests only: claim a log that machines share without the proof that they see the same names.", Hidden = true
    };
    private static readonly Argument<string[]> s_stray = new("app")
    {
        Description = "Behind --: the app to start and restart, with its arguments.", Arity = ArgumentArity.ZeroOrMore,
        HelpName = "-- APP ARGS",
        Validators =
        {
            static result =>
            {
                if (result.Tokens is [var first, ..])
                    result.AddError($"'{first.Value}' is no option; the app and its arguments stand behind --");
            },
        },
    };

    /// <summary>
    /// Parses the command line. What stands before the first -- is for the coordinator; the rest is the app's and is not looked into.
    /// </summary>
    /// <param name="run">Gets the options of a command line without errors, and returns the exit code.</param>
    public static ParseResult Parse(string[] args, Func<CoordinatorOptions, int> run)
    {
        int dashes = Array.IndexOf(args, "--");
        return dashes < 0 ? Build([], run).Parse(args) : Build(args[(dashes + 1)..], run).Parse(args[..dashes]);
    }

    private static RootCommand Build(string[] app, Func<CoordinatorOptions, int> run)
    {
        var root = new RootCommand("Runs beside an app and makes it immortal: it logs every input before its effects can be seen.")
        {
            s_log, s_instance, s_replica, s_catalog, s_appSocket, s_appPort, s_appRings, s_create, s_checkpointEvery, s_checkpointInterval,
            s_checkpointBound, s_retain, s_holdLimit, s_forkPolicy, s_maxMessage, s_keyWindow, s_keyCount, s_keyBytes, s_logWrite,
            s_segment, s_hangLimit, s_handlerWarning, s_stopWithin, s_drainWithin, s_acceptBuild,
            s_upgradeTo, s_oldApp, s_appVersion, s_upgradeWithin, s_upgradeLimit, s_run, s_alone, s_ignoreLock, s_logFormat, s_unsafeNoFlush,
            s_unsafeNoProof, s_stray,
        };
        LinkOptions.AddTo(root, s_catalog);
        root.Validators.Add(result =>
        {
            if (result.GetResult(s_appSocket) is not null && result.GetResult(s_appPort) is not null)
                result.AddError("--app-socket and --app-port exclude each other; give one");
            if (result.GetResult(s_oldApp) is not null && (result.GetResult(s_upgradeTo) is null || app.Length == 0))
                result.AddError("--old-app is half of an upgrade; give --upgrade-to with the version of the new app, and that app behind --");
            if (result.GetResult(s_appVersion) is not null && app.Length == 0)
                result.AddError("--app-version is for the app behind --, and there is none; an app that is started elsewhere finds it in AMBROSIA_APP_VERSION");
            if (result.GetValue(s_appRings) && result.GetResult(s_appPort) is not null)
                result.AddError("--app-rings need the unix socket beside them; leave --app-port out");
            if (result.GetValue(s_appRings) && !RingStream.IsThere)
                result.AddError("--app-rings are for Linux on x64 and Arm64; leave it out");
            if (result.GetResult(s_instance) is null && TextOption.Given(result, s_log) is { Length: > 0 } directory
                && !Names.IsValid(NameOf(directory)))
                result.AddError(
                    $"'{NameOf(directory)}', the name of the log's directory, is no name for an instance (letters, digits, '_', '-', at most 63); give one with --instance");
        });
        root.SetAction(parsed => run(OptionsOf(parsed, app)));
        return root;
    }

    private static string BadName(string option, string value) =>
        $"'{value}' of {option} is no name: 1 to 63 letters, digits, '_' or '-', beginning with a letter or digit";

    private static string NameOf(string directory) => Path.GetFileName(Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory)));

    private static string? Full(string? path) => path is null ? null : Path.GetFullPath(path);

    private static CoordinatorOptions OptionsOf(ParseResult given, string[] app)
    {
        string directory = Path.TrimEndingDirectorySeparator(Path.GetFullPath(given.GetRequiredValue(s_log)));
        OptionValues.TryParseSize(given.GetRequiredValue(s_checkpointEvery), out long every);
        OptionValues.TryParseSize(given.GetRequiredValue(s_segment), out long segmentBytes);
        OptionValues.TryParseSize(given.GetRequiredValue(s_maxMessage), out long messageBytes);
        OptionValues.TryParseTime(given.GetRequiredValue(s_keyWindow), out TimeSpan window);
        OptionValues.TryParseCount(given.GetRequiredValue(s_keyCount), out long keys);
        OptionValues.TryParseSize(given.GetRequiredValue(s_keyBytes), out long bytesOfKeys);
        OptionValues.TryParseWriteMode(given.GetRequiredValue(s_logWrite), out LogWriteMode writeMode);
        OptionValues.TryParseForkPolicy(given.GetRequiredValue(s_forkPolicy), out ForkPolicy policy);
        OptionValues.TryParseLogFormat(given.GetRequiredValue(s_logFormat), out EventEncoding format);
        OptionValues.TryParseSeconds(given.GetRequiredValue(s_hangLimit), out double hang);
        OptionValues.TryParseTime(given.GetRequiredValue(s_handlerWarning), out TimeSpan handler);
        OptionValues.TryParseTime(given.GetRequiredValue(s_stopWithin), out TimeSpan stop);
        return new CoordinatorOptions
        {
            LogDirectory = directory,
            Instance = given.GetValue(s_instance) ?? NameOf(directory),
            Replica = given.GetRequiredValue(s_replica),
            Catalog = CatalogPlace.Parse(given.GetValue(s_catalog) ?? Path.Combine(Path.GetDirectoryName(directory) ?? "/", "catalog")),
            Listen = given.GetRequiredValue(LinkOptions.Listen),
            Advertise = given.GetValue(LinkOptions.Advertise),
            TlsCertificate = Full(given.GetValue(LinkOptions.Certificate)),
            TlsKey = Full(given.GetValue(LinkOptions.Key)),
            TlsAuthorities = Full(given.GetValue(LinkOptions.Authorities)),
            Insecure = given.GetValue(LinkOptions.Insecure),
            AppSocket = Full(given.GetValue(s_appSocket)),
            AppPort = given.GetValue(s_appPort) is { } text && OptionValues.TryParsePort(text, out int port) ? port : null,
            AppRings = given.GetValue(s_appRings),
            Create = given.GetValue(s_create),
            CheckpointEveryBytes = every,
            Log = new LogOptions { SegmentBytes = segmentBytes, WriteMode = writeMode },
            CheckpointInterval = given.GetValue(s_checkpointInterval) is { } time && OptionValues.TryParseTime(time, out TimeSpan interval)
                ? interval : null,
            CheckpointBoundBytes = given.GetValue(s_checkpointBound) is { } size
                ? OptionValues.TryParseSize(size, out long bound) ? bound : 0 : null,
            ForkPolicy = policy,
            KeyWindow = window,
            KeysMax = keys,
            KeyBytesMax = bytesOfKeys,
            MessageBytesMax = (uint)messageBytes,
            HangLimit = TimeSpan.FromSeconds(hang),
            HandlerWarning = handler,
            StopWithin = stop,
            DrainWithin = OptionValues.TryParseTime(given.GetRequiredValue(s_drainWithin), out TimeSpan drain) ? drain : TimeSpan.Zero,
            AcceptBuild = given.GetValue(s_acceptBuild),
            Upgrade = UpgradeOf(given),
            AppVersion = given.GetValue(s_appVersion) is { } stated ? uint.Parse(stated, CultureInfo.InvariantCulture) : null,
            Run = Full(given.GetValue(s_run)),
            IsAlone = given.GetValue(s_alone),
            IgnoreLock = given.GetValue(s_ignoreLock),
            Retention = OptionValues.TryParseRetention(given.GetRequiredValue(s_retain), out RetentionPolicy? kept) ? kept
                : RetentionPolicy.Default,
            HoldLimit = OptionValues.TryParseHoldLimit(given.GetRequiredValue(s_holdLimit), out HoldLimit? hold) ? hold : HoldLimit.Default,
            EventEncoding = format,
            UnsafeNoFlush = given.GetValue(s_unsafeNoFlush),
            UnsafeNoProof = given.GetValue(s_unsafeNoProof),
            App = app,
        };
    }

    private static UpgradeOptions? UpgradeOf(ParseResult given)
    {
        if (given.GetValue(s_upgradeTo) is not { } version) return null;
        OptionValues.TryParseTime(given.GetRequiredValue(s_upgradeWithin), out TimeSpan within);
        OptionValues.TryParseTime(given.GetRequiredValue(s_upgradeLimit), out TimeSpan limit);
        return new UpgradeOptions(uint.Parse(version, CultureInfo.InvariantCulture))
        {
            Within = within, Limit = limit,
            OldApp = given.GetValue(s_oldApp) is { } old && CommandText.TryParse(old, out IReadOnlyList<string>? command)
                ? command : [],
        };
    }
}
