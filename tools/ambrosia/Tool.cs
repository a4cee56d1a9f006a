using System.CommandLine;
using System.CommandLine.Parsing;
using Ambrosia.Stores.Azure;
using Ambrosia.Tools.Catalogs;
using Ambrosia.Tools.Certificates;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Contracts;
using Ambrosia.Tools.Cuts;
using Ambrosia.Tools.Development;
using Ambrosia.Tools.Diagnosis;
using Ambrosia.Tools.Generation;
using Ambrosia.Tools.Listing;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Quarantine;
using Ambrosia.Tools.Replays;
using Ambrosia.Tools.Replicas;
using Ambrosia.Tools.States;
using Ambrosia.Tools.SuspendedCalls;
using Ambrosia.Tools.Upgrades;
using Ambrosia.Tools.Verification;

namespace Ambrosia.Tools;

/// <summary>The command line of the tool with all its commands. A wrong one ends with exit code 2 before anything is looked at.</summary>
internal static class Tool
{
    /// <summary>Words that begin with @ are what they are: some options take such, and none reads further words from a file.</summary>
    private static readonly ParserConfiguration s_plain = new() { ResponseFileTokenReplacer = null };

    /// <summary>Parses the command line and runs its command.</summary>
    /// <returns>One of <see cref="ToolExit"/>.</returns>
    public static int Run(string[] args, ToolStreams streams)
    {
        AzureTables.Use();
        ParseResult parsed = Build(streams).Parse(args, s_plain);
        if (parsed.Errors.Count == 0) return Invoke(parsed, streams);
        string command = string.Join(' ', Path(parsed.CommandResult));
        var screen = new Screen(streams, parsed.GetResult(ToolCommand.Json) is { Implicit: false });
        ParseError error = parsed.Errors[0];
        string? unknown = parsed.CommandResult.Command is RootCommand ? args.FirstOrDefault(static arg => !arg.StartsWith('-')) : null;
        string what = unknown is null ? error.Message.TrimEnd('.') : $"'{unknown}' is no command";
        screen.ShowMisuse(new ToolMisuse(what, "", $"'{command} --help' shows what can be given"));
        return ToolExit.Misuse;
    }

    /// <summary>Returns the words of the command line that name the command.</summary>
    private static IEnumerable<string> Path(CommandResult command) =>
        command.Parent is CommandResult parent ? [.. Path(parent), command.Command.Name] : ["ambrosia"];

    internal static RootCommand Build(ToolStreams streams) =>
        new("Shows and checks the logs of immortals, and asks their coordinators. It never writes into a log, and a coordinator may be at work meanwhile.")
        {
            ToolCommand.Json,
            new LogToolCommand(streams),
            new VerifyToolCommand(streams),
            new SuspendedToolCommand(streams),
            new StateToolCommand(streams),
            new ReplayToolCommand(streams),
            new CutToolCommand(streams),
            new DoctorToolCommand(streams),
            new ContractToolCommand(streams),
            new UpgradeToolCommand(streams), new RollbackToolCommand(streams),
            new GenerateToolCommand(streams),
            new CertsToolCommand(streams),
            new StatusToolCommand(streams),
            new CatalogToolCommand(streams),
            new PromoteToolCommand(streams),
            new RetireToolCommand(streams),
            new StopToolCommand(streams),
            new CheckpointToolCommand(streams),
            new ForgetPeerToolCommand(streams),
            new QuarantineToolCommand(streams),
            new DevToolCommand(streams),
        };

    private static int Invoke(ParseResult parsed, ToolStreams streams)
    {
        int code = parsed.Invoke(
            new InvocationConfiguration { Output = streams.Output, Error = streams.Error, EnableDefaultExceptionHandler = false });
        streams.Output.Flush();
        return code;
    }
}
