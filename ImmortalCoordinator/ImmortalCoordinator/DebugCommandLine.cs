using System.CommandLine;
using System.CommandLine.Parsing;
using System.Runtime.InteropServices;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Inspection.Places;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol.Texts;

namespace ImmortalCoordinator;

/// <summary>
/// Defines <c>ImmortalCoordinator debug</c>, which executes a log up to a place for somebody who looks at the past, and runs it. Nothing in
/// the log's directory is changed.
/// </summary>
internal static class DebugCommandLine
{
    private const string NoHold = "none", ProgramName = "ImmortalCoordinator";

    /// <summary>The first word of the command line.</summary>
    public const string Verb = "debug";

    private static readonly TextOption s_log = new("--log", "DIR", "Directory of the log, or of a copy of it.") { Required = true };
    private static readonly TextOption s_until = new("--until", "POS",
        "Where to stop: LSN, LSN:INDEX, a time (2026-11-21T08:00:00Z, or 15m ago), ckpt:N, call:[INSTANCE#]ID, key:TEXT, method:NAME[#N], start, end, crash or divergence.",
        "end");
    private static readonly TextOption s_checkpoint = new("--checkpoint", "NAME|LSN|N",
        "Begin with this checkpoint, or the newest one at or below that this build can continue; default: the newest before the place.");
    private static readonly TextOption s_appSocket = new("--app-socket", "PATH", "Unix socket for the app; default: in a directory of its own.");
    private static readonly TextOption s_hold = new("--hold", "TIME",
        "Keep the log from being removed behind the checkpoint for so long, like 10m, or none; default: as long as the primary's --hold-limit lets it.")
    {
        WhatIsWrong = static v => v == NoHold || OptionValues.TryParseTime(v, out _) ? null
            : $"'{v}' of --hold is no time; write one like 30s, 10m or 2h, or none",
    };
    private static readonly TextOption s_commands = new("--commands", "FILE", "Obey the commands in a file, and end.");
    private static readonly Option<bool> s_console = new("--console")
    {
        Description = "Take commands from the standard input: to POS, next [N], state [PATH], query NAME(ARGS), calls, where, help, quit."
    };
    private static readonly Option<bool> s_waitForDebugger = new("--wait-for-debugger")
    {
        Description = "The app begins when a debugger is attached to it, and its code is not optimised."
    };

    /// <summary>Returns the command that stops before a place of the log of a coordinator, with its app.</summary>
    public static string At(CoordinatorOptions coordinator, string place)
    {
        // A path that is typed finds this program wherever it is; behind 'dotnet' it is not the program.
        string program = Path.GetFileNameWithoutExtension(Environment.ProcessPath) == ProgramName ? Environment.ProcessPath! : ProgramName;
        IEnumerable<string> app = coordinator.App.Count > 0 ? coordinator.App : ["APP"];
        return ShellWords.Join([program, Verb, "--log", Path.GetFullPath(coordinator.LogDirectory), "--until", place, "--", .. app]);
    }

    /// <summary>Runs the command; returns the exit code.</summary>
    /// <param name="args">What stands behind the verb.</param>
    public static int Run(string[] args)
    {
        int dashes = Array.IndexOf(args, "--");
        string[] app = dashes < 0 ? [] : args[(dashes + 1)..];
        var root = new RootCommand("Executes a log up to a place in the past, with the app stopped there, and changes nothing.");
        foreach (Option option in new Option[] { s_log, s_until, s_checkpoint, s_appSocket, s_hold, s_console, s_commands, s_waitForDebugger })
            root.Add(option);
        root.SetAction(given => Look(given, app));
        ParseResult parsed = root.Parse(dashes < 0 ? args : args[..dashes]);
        if (parsed.Errors.Count == 0) return parsed.Invoke();
        foreach (ParseError error in parsed.Errors) StandardLines.WriteError(error.Message);
        StandardLines.WriteError("'ImmortalCoordinator debug --help' shows all options.");
        return ExitCodes.Misuse;
    }

    private static int Look(ParseResult given, string[] app)
    {
        using var stop = new CancellationTokenSource();
        using var signals = new StopSignals(stop);
        try
        {
            return Look(given, app, stop.Token);
        }
        catch (Exception end) when (CodeOf(end) is { } code)
        {
            if (code != ExitCodes.Ok) StandardLines.WriteError(end.Message);
            return code;
        }
    }

    private static int? CodeOf(Exception end) => end switch
    {
        OperationCanceledException => ExitCodes.Ok, // it was asked to end
        MisuseException => ExitCodes.Misuse,
        ViewEndedException view => view.Code,
        LogDamage => ExitCodes.Damage,
        IOException => ExitCodes.Io,
        _ => null,
    };

    private static int Look(ParseResult given, string[] app, CancellationToken stop)
    {
        bool hasConsole = given.GetValue(s_console) || given.GetValue(s_commands) is not null;
        using TextReader commands = given.GetValue(s_commands) is { } file ? OpenCommands(file) : Console.In;
        using var session = new DebugSession(
            new DebugOptions
            {
                LogDirectory = given.GetRequiredValue(s_log), Checkpoint = given.GetValue(s_checkpoint), App = app,
                Hold = HoldOf(given.GetValue(s_hold)), AppSocket = given.GetValue(s_appSocket),
                WaitsForDebugger = given.GetValue(s_waitForDebugger), BreaksInDebugger = true,
            },
            new PosixFileSystem(), TimeProvider.System, StandardLines.WriteError);
        FoundPlace place = session.Find(given.GetRequiredValue(s_until));
        StandardLines.Write($"view of {session.Instance}, which only reads");
        session.Start(place);
        if (app.Length == 0)
            StandardLines.Write(
                $"start the app with {string.Join(' ', session.Environment.Select(static variable => $"{variable.Key}={variable.Value}"))}");
        if (given.GetValue(s_hold) is { } time)
            StandardLines.Write(time == NoHold ? "nothing of the log is held (--hold)"
                : $"the log from where it begins is held for {time} (--hold), or as long as the primary's --hold-limit lets it");
        string stopped = session.To(place, stop);
        foreach (string line in session.Introduction()) StandardLines.Write(line);
        StandardLines.Write(stopped);
        if (!hasConsole) Hold(session, stop);
        var console = new DebugConsole(session, StandardLines.Write, StandardLines.WritePiece);
        console.Run(commands, stop);
        return console.Misunderstood == 0 || given.GetValue(s_commands) is null ? ExitCodes.Ok : ExitCodes.Misuse;
    }

    private static TimeSpan? HoldOf(string? given) =>
        given is null ? null : OptionValues.TryParseTime(given, out TimeSpan time) ? time : TimeSpan.Zero;

    /// <summary>Stays there until it is asked to end, and tells where the app stands when a debugger's user has gone on.</summary>
    private static void Hold(DebugSession session, CancellationToken stop)
    {
        while (true) StandardLines.Write(session.AwaitStop(stop));
    }

    private static StreamReader OpenCommands(string file)
    {
        try
        {
            return new StreamReader(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new MisuseException($"the commands in '{file}' cannot be read", e.Message, "give the path of a file with a command a line");
        }
    }
}
