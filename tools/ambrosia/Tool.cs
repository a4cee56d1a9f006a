using System.CommandLine;
using System.CommandLine.Parsing;

namespace Ambrosia.Tools;

/// <summary>The command line: its commands and what they have in common. A wrong one ends with 2 before anything is looked at.</summary>
internal static class Tool
{
    /// <summary>Of every command.</summary>
    public static readonly Option<bool> Json = new("--json")
    {
        Description = "JSON instead of text: one object a line (docs/tools.md).", Recursive = true
    };

    public static int Run(string[] args, ToolStreams streams)
    {
        ParseResult parsed = Build(streams).Parse(args);
        if (parsed.Errors.Count == 0) return Invoke(parsed, streams);
        string command = string.Join(' ', Path(parsed.CommandResult));
        var screen = new Screen(streams, parsed.GetResult(Json) is { Implicit: false });
        ParseError error = parsed.Errors[0];
        string? unknown = parsed.CommandResult.Command is RootCommand ? args.FirstOrDefault(static arg => !arg.StartsWith('-')) : null;
        string what = unknown is null ? error.Message.TrimEnd('.') : $"'{unknown}' is no command";
        screen.ShowMisuse(new ToolMisuse(what, "", $"'{command} --help' shows what can be given"));
        return ToolExit.Misuse;
    }

    /// <summary>The words in front of what is wrong.</summary>
    private static IEnumerable<string> Path(CommandResult command) =>
        command.Parent is CommandResult parent ? [.. Path(parent), command.Command.Name] : ["ambrosia"];

    private static RootCommand Build(ToolStreams streams) =>
        new("Looks into the logs of immortals and tells what is there. It writes nothing into them, and a coordinator may be at work meanwhile.")
        {
            Json,
            new LogCommand(streams),
            new VerifyCommand(streams),
            new SuspendedCommand(streams),
            new DoctorCommand(streams),
            new CertsCommand(streams),
            new StatusCommand(streams),
            new PromoteCommand(streams),
            new RetireCommand(streams),
            new ForgetPeerCommand(streams),
            new QuarantineCommand(streams),
        };

    private static int Invoke(ParseResult parsed, ToolStreams streams)
    {
        int code = parsed.Invoke(
            new InvocationConfiguration { Output = streams.Output, Error = streams.Error, EnableDefaultExceptionHandler = false });
        streams.Output.Flush();
        return code;
    }
}
