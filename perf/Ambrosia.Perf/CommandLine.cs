using System.CommandLine;
using System.CommandLine.Parsing;

namespace Ambrosia.Perf;

/// <summary>The commands, their options and defaults.</summary>
internal static class CommandLine
{
    private const int Misuse = 2;

    private static readonly Option<string> sizes = new("--sizes") { Description = "Bytes of a message: FROM..TO in quarters, or a list A,B,C.", HelpName = "SIZES", DefaultValueFactory = static _ => "65536..16" };
    private static readonly Option<string> bytes = new("--bytes") { Description = "Bytes of a round.", HelpName = "SIZE", DefaultValueFactory = static _ => "256M" };
    private static readonly Option<long> messagesMax = new("--messages-max") { Description = "Messages of a round at most, which counts for small ones.", HelpName = "N", DefaultValueFactory = static _ => 4_000_000 };
    private static readonly Option<int> calls = new("--n") { Description = "Calls of a round.", HelpName = "N", DefaultValueFactory = static _ => 10_000 };
    private static readonly Option<int> rounds = new("--rounds") { Description = "Rounds that count; the median is reported.", HelpName = "N", DefaultValueFactory = static _ => 5 };
    private static readonly Option<string?> logDirectory = new("--log-dir") { Description = "Where the logs go: the file system decides the figures. Default: the temporary directory. They are removed at the end.", HelpName = "DIR" };
    private static readonly Option<string?> results = new("--results") { Description = "Where the figures go as JSON; default: perf/results of the working directory.", HelpName = "DIR" };
    private static readonly Option<int> limit = new("--limit") { Description = "Seconds that one round may take.", HelpName = "SECONDS", DefaultValueFactory = static _ => 120 };

    public static int Run(string[] args)
    {
        sizes.Validators.Add(static result => { if (Sizes.TryParseList(result.GetValueOrDefault<string>()!) is null) result.AddError("--sizes is FROM..TO or A,B,C, each from 8 to 16M bytes"); });
        bytes.Validators.Add(static result => { if (!Sizes.TryParse(result.GetValueOrDefault<string>()!, out _)) result.AddError("--bytes is a number with K, M or G, like 256M"); });
        AtLeastOne(messagesMax);
        AtLeastOne(calls);
        AtLeastOne(rounds);
        AtLeastOne(limit);
        var stream = new Command("stream", "One-way calls as fast as they go, durable at the receiver before they are applied; timed at its last message.") { sizes, bytes, messagesMax, rounds, logDirectory, results, limit };
        var ping = new Command("ping", "Awaited calls one after another: the time of one, both logs included.") { calls, rounds, logDirectory, results, limit };
        stream.SetAction(parsed => Measure(parsed, "stream", args, Stream));
        ping.SetAction(parsed => Measure(parsed, "ping", args, Ping));
        ParseResult parsed = new RootCommand("Measures Ambrosia end to end: two coordinators and two apps, four processes, as in production.") { stream, ping }.Parse(args);
        if (parsed.Errors.Count == 0) return parsed.Invoke();
        foreach (ParseError error in parsed.Errors) Console.Error.WriteLine(error.Message);
        return Misuse;
    }

    private static void AtLeastOne<T>(Option<T> option)
        where T : struct, IComparable<T> => option.Validators.Add(result =>
    {
        if (result.GetValueOrDefault<T>().CompareTo((T)Convert.ChangeType(1, typeof(T))) < 0) result.AddError($"{option.Name} is 1 or more");
    });

    private static int Measure(ParseResult parsed, string name, string[] args, Func<ParseResult, string, object> measure)
    {
        string parent = Path.GetFullPath(parsed.GetValue(logDirectory) ?? Path.GetTempPath());
        string directory = Path.Combine(parent, $"ambrosia-perf-{Environment.ProcessId}");
        Directory.CreateDirectory(directory);
        try
        {
            object figures = measure(parsed, directory);
            Report.Save(parsed.GetValue(results), name, args, MachineInfo.Of(directory), figures);
            return 0;
        }
        catch (FailedRoundException failed)
        {
            Console.Error.WriteLine($"FAILED: {failed.Message}");
            return 1;
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static object Stream(ParseResult parsed, string directory)
    {
        Sizes.TryParse(parsed.GetRequiredValue(bytes), out long roundBytes);
        var command = new StreamCommand(directory, TimeSpan.FromSeconds(parsed.GetValue(limit)), Console.Error.WriteLine);
        IReadOnlyList<StreamResult> found = command.Run(Sizes.TryParseList(parsed.GetRequiredValue(sizes))!, roundBytes, parsed.GetValue(messagesMax), parsed.GetValue(rounds));
        Report.Show(found);
        return found;
    }

    private static object Ping(ParseResult parsed, string directory)
    {
        var command = new PingCommand(directory, TimeSpan.FromSeconds(parsed.GetValue(limit)), Console.Error.WriteLine);
        IReadOnlyList<Latencies> found = command.Run(parsed.GetValue(calls), parsed.GetValue(rounds));
        Report.Show(found);
        return found;
    }
}
