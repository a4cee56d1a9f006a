using System.CommandLine;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Development;

/// <summary>The command <c>dev</c>: runs apps while they are developed. Their logs are below a directory of their own.</summary>
internal sealed class DevToolCommand : ToolCommand
{
    private const string AnyPort = "http://127.0.0.1:0", UrlsVariable = "ASPNETCORE_URLS";

    private readonly Argument<string[]> _apps = new("NAME=PATH")
    {
        Description = "Projects, by folder or file, or programs; without any: the project of this folder.", Arity = ArgumentArity.ZeroOrMore,
    };
    private readonly Option<string> _log = new("--log")
    {
        Description = "Directory of the logs and the catalog.", HelpName = "DIR", DefaultValueFactory = static _ => ".ambrosia",
    };

    public DevToolCommand(ToolStreams streams)
        : base(streams, "dev", "Builds and runs programs with immortals, and starts again what dies. Keys kill, rebuild and end.")
    {
        Add(_apps);
        Add(_log);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        if (screen.IsJson) throw new ToolMisuse("'dev' is for people", "", "leave --json out");
        string[] given = parsed.GetValue(_apps) is { Length: > 0 } apps ? apps : ["."];
        DevProject[] projects = [.. given.Select(DevProject.Parse)];
        if (projects.Select(static project => project.Name).Distinct().Count() != projects.Length)
            throw new ToolMisuse("two apps have one name", "", "give each a name of its own, as in shop=src/Shop");
        string root = Path.GetFullPath(parsed.GetRequiredValue(_log));
        DevSession? session = null;
        session = new DevSession(
            [.. projects.Select(project => new DevApp(
                project, EnvironmentOf(root, projects.Length), line => session!.Tell(project.Name, line)))],
            screen.Live);
        session.Run();
        return ToolExit.Fine;
    }

    /// <summary>Where the logs are, for all; several web servers must not want one port.</summary>
    private static Dictionary<string, string> EnvironmentOf(string root, int apps)
    {
        var environment = new Dictionary<string, string> { ["Ambrosia__Log"] = root, ["Ambrosia__Catalog"] = Path.Combine(root, "catalog") };
        if (apps > 1 && Environment.GetEnvironmentVariable(UrlsVariable) is null) environment[UrlsVariable] = AnyPort;
        return environment;
    }
}
