using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using System.Runtime.InteropServices;

namespace Ambrosia.Perf;

/// <summary>The commands, their options and defaults.</summary>
internal static class CommandLine
{
    private const int Failed = 1, Misuse = 2, Interrupted = 130;

    private static readonly Option<string> sizes = new("--sizes") { Description = "Bytes of a message: FROM..TO in quarters, or a list A,B,C.", HelpName = "SIZES", DefaultValueFactory = static _ => "65536..16" };
    private static readonly Option<string> bytes = new("--bytes") { Description = "Bytes of a round.", HelpName = "SIZE", DefaultValueFactory = static _ => "256M" };
    private static readonly Option<int> messagesMax = Number("--messages-max", "Messages of a round at most, which counts for small ones.", "N", 20_000_000);
    private static readonly Option<int> calls = Number("--n", "Calls of a round.", "N", 10_000);
    private static readonly Option<int> rounds = Number("--rounds", "Rounds that count; the median is reported.", "N", 5);
    private static readonly Option<string?> logDirectory = new("--log-dir") { Description = "Where the logs go: the file system decides the figures. Default: the temporary directory. They are removed at the end.", HelpName = "DIR" };
    private static readonly Option<string?> results = new("--results") { Description = "Where the figures go as JSON; default: perf/results of the working directory.", HelpName = "DIR" };
    private static readonly Option<int> limit = Number("--limit", "Seconds that one round may take.", "SECONDS", 120);

    public static int Run(string[] args)
    {
        sizes.Validators.Add(static result => { if (Sizes.TryParseList(result.GetValueOrDefault<string>()!) is null) result.AddError("--sizes is FROM..TO or A,B,C, each from 8 to 16M bytes"); });
        bytes.Validators.Add(static result => { if (!Sizes.TryParse(result.GetValueOrDefault<string>()!, out _)) result.AddError("--bytes is a number with K, M or G, like 256M"); });
        var stream = new Command("stream", "One-way calls as fast as they go, durable at the receiver before they are applied; timed at its last message.") { sizes, bytes, messagesMax, rounds, logDirectory, results, limit };
        var ping = new Command("ping", "Awaited calls one after another: the time of one, both logs included.") { calls, rounds, logDirectory, results, limit };
        stream.SetAction(parsed => Measure(parsed, "stream", args, Stream));
        ping.SetAction(parsed => Measure(parsed, "ping", args, Ping));
        ParseResult parsed = new RootCommand("Measures Ambrosia end to end: two coordinators and two apps, four processes, as in production.") { stream, ping }.Parse(args);
        if (parsed.Errors.Count == 0) return parsed.Invoke(new InvocationConfiguration { ProcessTerminationTimeout = null });
        foreach (ParseError error in parsed.Errors) Console.Error.WriteLine(error.Message);
        return Misuse;
    }

    private static Option<int> Number(string name, string description, string helpName, int standard) => new(name)
    {
        Description = description,
        HelpName = helpName,
        DefaultValueFactory = _ => standard,
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            if (!int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int value) || value == 0) result.AddError($"'{text}' of {name} is no number from 1 to {int.MaxValue}");
            return value;
        },
    };

    private static int Measure(ParseResult parsed, string name, string[] args, Func<ParseResult, string, CancellationToken, object> measure)
    {
        using var stop = new CancellationTokenSource();
        using PosixSignalRegistration interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop), terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        string parent = Path.GetFullPath(parsed.GetValue(logDirectory) ?? Path.GetTempPath());
        string directory = Path.Combine(parent, $"ambrosia-perf-{Environment.ProcessId}");
        Directory.CreateDirectory(directory);
        try
        {
            object figures = measure(parsed, directory, stop.Token);
            Report.Save(parsed.GetValue(results), name, args, MachineInfo.Of(directory), figures);
            return 0;
        }
        catch (FailedRoundException failed)
        {
            Console.Error.WriteLine($"FAILED: {failed.Message}");
            return Failed;
        }
        catch (OperationCanceledException)
        {
            return Interrupted;
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }

        // What was started ends with the measurement, and its logs go.
        void Stop(PosixSignalContext signal)
        {
            signal.Cancel = true;
            stop.Cancel();
        }
    }

    private static object Stream(ParseResult parsed, string directory, CancellationToken stop)
    {
        Sizes.TryParse(parsed.GetRequiredValue(bytes), out long roundBytes);
        var command = new StreamCommand(directory, TimeSpan.FromSeconds(parsed.GetValue(limit)), Console.Error.WriteLine, stop);
        IReadOnlyList<StreamResult> found = command.Run(Sizes.TryParseList(parsed.GetRequiredValue(sizes))!, roundBytes, parsed.GetValue(messagesMax), parsed.GetValue(rounds));
        Report.Show(found);
        return found;
    }

    private static object Ping(ParseResult parsed, string directory, CancellationToken stop)
    {
        var command = new PingCommand(directory, TimeSpan.FromSeconds(parsed.GetValue(limit)), Console.Error.WriteLine, stop);
        IReadOnlyList<Latencies> found = command.Run(parsed.GetValue(calls), parsed.GetValue(rounds));
        Report.Show(found);
        return found;
    }
}
