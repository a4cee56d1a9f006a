// One run of one command: where its logs are, what ends it, and what becomes of its figures. What was started ends
// with it, and its logs go.
using System.CommandLine;
using System.Runtime.InteropServices;
using Ambrosia.Coordinator;
using Spectre.Console;

namespace Ambrosia.Perf;

/// <summary>The frame around every command: the options that all share, signals, exit codes, files.</summary>
internal sealed class Measurement(string name, string[] args)
{
    private const int Failed = 1, Misuse = 2, Interrupted = 130;

    private readonly Option<string?> _logDirectory = new("--log-dir")
    {
        Description = "Where the logs go: the file system decides the figures. Default: the temporary directory. They are removed at the end.",
        HelpName = "DIR"
    };
    private readonly Option<string?> _results = new("--results")
    {
        Description = "Where the figures go as JSON and SVG. Default: perf/results of the source tree.", HelpName = "DIR"
    };
    private readonly Option<int> _limit = Options.Number("--limit", "Seconds that one step may take.", 120);
    private readonly Option<bool> _json = new("--json") { Description = "Figures as JSON on the standard output instead of tables." };
    private readonly Option<string> _log = Options.Word("--log",
        "What an acknowledged message survives: durable as in production; buffered: never flushed; off: the logs in memory.", "durable",
        "buffered", "off");
    private readonly Option<string> _local = Options.Word("--local",
        "Between app and coordinator: a unix socket; TCP; rings of shared memory; or nothing but that socket, with both in one process.",
        "unix", "tcp", "rings", "embedded");

    private readonly Option<FileInfo?> _coordinator = new("--coordinator")
    {
        Description = "The coordinator to measure, such as a published one. Default: the one beside this program.", HelpName = "PATH"
    };

    /// <summary>A command with the shared options and its own.</summary>
    public Command Build(string description, Func<ParseResult, ClusterOptions, Outcome> measure, params ReadOnlySpan<Option> own)
    {
        var command = new Command(name, description);
        foreach (Option option in own) command.Options.Add(option);
        foreach (Option option in new Option[] { _log, _local, _coordinator, _logDirectory, _results, _limit, _json })
            command.Options.Add(option);
        _coordinator.Validators.Add(static result =>
        {
            if (result.GetValueOrDefault<FileInfo?>() is { Exists: false } missing)
                result.AddError(
                    $"there is no coordinator at {missing.FullName}; give the path of the executable, or leave --coordinator out");
        });
        command.Validators.Add(result =>
        {
            if (result.GetValue(_local) == "embedded" && result.GetValue(_coordinator) is not null)
                result.AddError(
                    "--local embedded and --coordinator exclude each other: an embedded coordinator is in the app's own program");
        });
        command.SetAction(parsed => Run(parsed, measure));
        return command;
    }

    private int Run(ParseResult parsed, Func<ParseResult, ClusterOptions, Outcome> measure)
    {
        using var stop = new CancellationTokenSource();
        using PosixSignalRegistration interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop),
            terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        string? directory = null;
        try
        {
            LogKind kind = parsed.GetRequiredValue(_log) switch
            {
                "off" => LogKind.Off,
                "buffered" => LogKind.Buffered,
                _ => LogKind.Durable
            };
            directory = DirectoryFor(parsed, kind);
            Directory.CreateDirectory(directory);
            var cluster = new ClusterOptions(directory, TimeSpan.FromSeconds(parsed.GetValue(_limit)))
            {
                Coordinator = parsed.GetValue(_coordinator)?.FullName ?? new ClusterOptions(directory, default).Coordinator,
                Log = kind,
                Local = parsed.GetRequiredValue(_local) switch
                {
                    "tcp" => LocalHop.Tcp,
                    "rings" => LocalHop.Rings,
                    "embedded" => LocalHop.Embedded,
                    _ => LocalHop.Unix
                }, Stop = stop.Token, Report = Console.Error.WriteLine,
            };
            Outcome found = Watched(cluster, each => measure(parsed, each));
            Finish(parsed, directory, found);
            return 0;
        }
        catch (FailedRoundException failed)
        {
            Console.Error.WriteLine($"FAILED: {failed.Message}");
            return Failed;
        }
        catch (MissingRivalException missing)
        {
            Console.Error.WriteLine(missing.Message);
            return Misuse;
        }
        catch (OperationCanceledException)
        {
            return Interrupted;
        }
        finally
        {
            if (Directory.Exists(directory)) Directory.Delete(directory, recursive: true);
        }

        void Stop(PosixSignalContext signal)
        {
            signal.Cancel = true;
            stop.Cancel();
        }
    }

    /// <summary>On a terminal a bar moves, with the last line behind it; elsewhere each line stays.</summary>
    private static Outcome Watched(ClusterOptions cluster, Func<ClusterOptions, Outcome> measure)
    {
        if (Console.IsErrorRedirected || Console.IsOutputRedirected) return measure(cluster);
        Progress progress = AnsiConsole.Progress().AutoClear(true)
            .Columns(new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn(),
                new TaskDescriptionColumn { Alignment = Justify.Left });
        return progress.Start(context =>
        {
            ProgressTask bar = context.AddTask("starting", maxValue: 1);
            return measure(cluster with { Report = line => bar.Description = Markup.Escape(line), Advance = bar.Increment });
        });
    }

    private static string UniqueName => $"ambrosia-perf-{Environment.ProcessId}";

    private string DirectoryFor(ParseResult parsed, LogKind kind) => kind == LogKind.Off
        ? ClusterOptions.MemoryDirectory(UniqueName)
        : Path.Combine(Path.GetFullPath(parsed.GetValue(_logDirectory) ?? Path.GetTempPath()), UniqueName);

    private void Finish(ParseResult parsed, string directory, Outcome found)
    {
        var file = new ResultFile(
            $"Ambrosia.Perf {string.Join(' ', args)}", DateTimeOffset.UtcNow, SourceVersion.Describe(), ResultFile.ThisConfiguration,
            found.Durability,
            MachineInfo.Of(directory), found.Figures);
        TextWriter said = Console.Error;
        if (parsed.GetValue(_json))
        {
            Console.WriteLine(file.ToJson());
        }
        else
        {
            said = Console.Out;
            found.Show();
        }
        said.WriteLine(found.Durability);
        said.WriteLine($"log on {file.Machine.LogFileSystem}; {file.Machine.Cores} × {file.Machine.Cpu}");
        if (!file.IsWorthKeeping)
        {
            said.WriteLine("A debug build: its figures mean nothing and are not kept. Run with -c Release.");
            return;
        }
        string into = parsed.GetValue(_results) ?? Path.Combine(SourceVersion.Root() ?? Environment.CurrentDirectory, "perf", "results");
        said.WriteLine($"kept in {file.Save(into, name, found.Charts)}");
    }
}
