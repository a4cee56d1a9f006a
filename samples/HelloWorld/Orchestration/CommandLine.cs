using System.CommandLine;
using System.CommandLine.Parsing;
using Spectre.Console;

namespace HelloWorld.Orchestration;

/// <summary>Options of a run, their defaults, and how a run is begun and ended.</summary>
internal static class CommandLine
{
    private const int Misuse = 2;

    private static readonly Option<long> calls = new("--calls") { Description = "Calls to make.", HelpName = "N", DefaultValueFactory = static _ => 200_000 };
    private static readonly Option<int> kills = new("--kills") { Description = "Kills (kill -9) among them: an app, a coordinator, both, all four.", HelpName = "N", DefaultValueFactory = static _ => 12 };
    private static readonly Option<int> seed = new("--seed") { Description = "Decides whom the kills hit and when.", HelpName = "N", DefaultValueFactory = static _ => Environment.ProcessId };
    private static readonly Option<string?> log = new("--log") { Description = "Directory of the logs; a second run on the same one goes on where the first stopped. Default: a new one in the temporary directory.", HelpName = "DIR" };
    private static readonly Option<int> limit = new("--limit") { Description = "A run of more seconds has failed.", HelpName = "SECONDS", DefaultValueFactory = static _ => 120 };
    private static readonly Option<bool> expectLostCall = new("--expect-lost-call") { Hidden = true };

    public static int Run(string[] args)
    {
        AtLeast(calls, 1);
        AtLeast(kills, 0);
        AtLeast(limit, 1);
        var root = new RootCommand("Two immortals that call each other while their processes are killed; at the end every call was applied exactly once, in order.")
        {
            calls, kills, seed, log, limit, expectLostCall,
        };
        root.SetAction(Run);
        ParseResult parsed = root.Parse(args);
        if (parsed.Errors.Count == 0) return parsed.Invoke(new InvocationConfiguration { ProcessTerminationTimeout = null });
        foreach (ParseError error in parsed.Errors) Console.Error.WriteLine(error.Message);
        return Misuse;
    }

    private static void AtLeast<T>(Option<T> option, T least)
        where T : IComparable<T> => option.Validators.Add(result =>
    {
        if (result.GetValueOrDefault<T>() is { } value && value.CompareTo(least) < 0) result.AddError($"{value} of {option.Name} is too small; give {least} or more");
    });

    private static int Run(ParseResult parsed)
    {
        var options = new RunOptions
        {
            Calls = parsed.GetValue(calls),
            Kills = parsed.GetValue(kills),
            Seed = parsed.GetValue(seed),
            LogDirectory = parsed.GetValue(log) is { } given ? Path.GetFullPath(given) : Directory.CreateTempSubdirectory("ambrosia-hello-").FullName,
            Limit = TimeSpan.FromSeconds(parsed.GetValue(limit)),
            ExpectsLostCall = parsed.GetValue(expectLostCall),
        };
        using var stop = new CancellationTokenSource();
        Console.CancelKeyPress += (_, e) =>
        {
            e.Cancel = true;
            stop.Cancel();
        };
        IScreen screen = Console.IsOutputRedirected || !AnsiConsole.Profile.Capabilities.Ansi ? new PlainLines(Console.Out) : new LiveTable();
        Console.WriteLine($"{options.Calls} calls, {options.Kills} kills, --seed {options.Seed}, logs in {options.LogDirectory}");
        using var cluster = new Cluster(options.LogDirectory);
        var run = new HelloRun(options, cluster, screen);
        run.Run(stop.Token);
        return Closing.Say(Console.Out, options, run, cluster);
    }
}
