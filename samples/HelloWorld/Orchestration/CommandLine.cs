using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using System.Runtime.InteropServices;
using Spectre.Console;

namespace HelloWorld.Orchestration;

/// <summary>Defines the options of a run, starts the run and ends it.</summary>
internal static class CommandLine
{
    private const int Misuse = 2;

    private static readonly Option<long> s_calls = Number("--calls", "Calls to make.", "N", static () => 200_000, least: 1);
    private static readonly Option<long> s_kills = Number("--kills", "Kills (kill -9) among them: an app, a coordinator, both, all four.",
        "N", static () => 12, least: 0);
    private static readonly Option<long> s_seed = Number("--seed", "Decides whom the kills hit and when.", "N",
        static () => Environment.ProcessId, least: 0);
    private static readonly Option<string?> s_log = new("--log")
    {
        Description = "Directory of the logs; a second run on the same one goes on where the first stopped. Default: a new one in the temporary directory.",
        HelpName = "DIR"
    };
    private static readonly Option<long> s_limit = Number("--limit", "A run of more seconds has failed.", "SECONDS",
        static () => 120, least: 1);
    private static readonly Option<bool> s_expectLostCall = new("--expect-lost-call") { Hidden = true };

    public static int Run(string[] args)
    {
        var root = new RootCommand(
            "Two immortals that call each other while their processes are killed; at the end every call was applied exactly once, in order.")
        {
            s_calls, s_kills, s_seed, s_log, s_limit, s_expectLostCall,
        };
        root.SetAction(Run);
        ParseResult parsed = root.Parse(args);
        if (parsed.Errors.Count == 0) return parsed.Invoke(new InvocationConfiguration { ProcessTerminationTimeout = null });
        foreach (ParseError error in parsed.Errors) Console.Error.WriteLine(error.Message);
        return Misuse;
    }

    private static Option<long> Number(string name, string description, string helpName, Func<long> standard, long least) => new(name)
    {
        Description = description,
        HelpName = helpName,
        DefaultValueFactory = _ => standard(),
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            if (!long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long value) || value < least
                || value > int.MaxValue)
                result.AddError($"'{text}' of {name} is no number from {least} to {int.MaxValue}");
            return value;
        },
    };

    private static int Run(ParseResult parsed)
    {
        var options = new RunOptions
        {
            Calls = parsed.GetValue(s_calls),
            Kills = (int)parsed.GetValue(s_kills),
            Seed = (int)parsed.GetValue(s_seed),
            LogDirectory = parsed.GetValue(s_log) is { } given ? Path.GetFullPath(given)
                : Directory.CreateTempSubdirectory("ambrosia-hello-").FullName,
            Limit = TimeSpan.FromSeconds(parsed.GetValue(s_limit)),
            ExpectsLostCall = parsed.GetValue(s_expectLostCall),
        };
        using var stop = new CancellationTokenSource();
        using PosixSignalRegistration interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop),
            terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        IScreen screen = Console.IsOutputRedirected || !AnsiConsole.Profile.Capabilities.Ansi ? new PlainLines(Console.Out)
            : new LiveTable();
        Console.WriteLine($"{options.Calls} calls, {options.Kills} kills, --seed {options.Seed}, logs in {options.LogDirectory}");
        using var cluster = new Cluster(options.LogDirectory);
        var run = new HelloRun(options, cluster, screen);
        run.Run(stop.Token);
        return RunSummary.Write(Console.Out, options, run, cluster);

        // The run ends in order, so that nothing which it started goes on.
        void Stop(PosixSignalContext signal)
        {
            signal.Cancel = true;
            stop.Cancel();
        }
    }
}
