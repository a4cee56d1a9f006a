using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Replicas;

namespace Ambrosia.Tools.Upgrades;

/// <summary>
/// The command <c>ambrosia upgrade DIR --to NEWAPP</c> has the primary go on with another build, without a take-over: it comes back when
/// that build is primary, or says why the one before goes on (exit code 1). Ended before the switch, it ends the upgrade too.
/// </summary>
internal abstract class InPlaceUpgradeToolCommand : ToolCommand
{
    /// <summary>A coordinator answers so much later than the times that it was given.</summary>
    private static readonly TimeSpan s_answerAfter = TimeSpan.FromMinutes(2);

    private readonly Argument<string?> _directory = new("DIR")
    {
        Description = "Directory of the log.", Arity = ArgumentArity.ZeroOrOne,
    };

    private readonly Option<string?> _to = new("--to")
    {
        Description = "The new build of the app, with its arguments, as one text; the coordinator starts it.", HelpName = "NEWAPP",
    };

    private readonly TimeOption _within = new(
        "--within", "10m", "How long rehearsals are repeated that do not work yet, before it is given up: a number with s, m or h.");

    private readonly TimeOption _limit = new(
        "--limit", "10s", "How long callers may wait while the state is converted; then the version before goes on.");

    protected InPlaceUpgradeToolCommand(ToolStreams streams, string name, string description) : base(streams, name, description)
    {
        Add(_directory);
        Add(_to);
        Add(_within);
        Add(_limit);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        if (parsed.GetValue(_directory) is not { } directory || parsed.GetValue(_to) is not { } to)
            throw new ToolMisuse("an upgrade needs the log's directory and the new app", "", "give 'ambrosia upgrade DIR --to NEWAPP', or 'ambrosia upgrade check' to ask before");
        if (!CommandText.TryParse(to, out IReadOnlyList<string>? words))
            throw new ToolMisuse($"'{to}' of --to is no command", "", "write the program and its arguments as one text, those with spaces in double quotes");
        LogDirectory log = LogDirectory.Open(directory);
        TimeSpan within = _within.Of(parsed), limit = _limit.Of(parsed);
        string replica = AdminCall.PrimaryOf(log.Path);
        var request = new JsonObject
        {
            ["command"] = "upgrade", ["app"] = new JsonArray([.. words.Select(static word => (JsonNode)Full(word))]),
            ["withinMs"] = (long)within.TotalMilliseconds, ["limitMs"] = (long)limit.TotalMilliseconds,
        };
        JsonObject last = Ask(log.Path, replica, request, within + limit + s_answerAfter, screen);
        string? error = (string?)last["error"];
        if (error is null && last["version"] is null | last["stage"] is not null)
        {
            error = "it ended before the upgrade was over; started again, it goes on with the one version or with the other";
            last["isRefused"] = false;
        }
        if (error is null)
        {
            var made = new InPlaceUpgradeReport(replica, (uint?)last["from"], (uint?)last["version"], null, (string?)last["commandLine"],
                (bool?)last["isPrimary"] == true);
            screen.Show(made);
            return made.IsPrimary ? ToolExit.Fine : ToolExit.Damage;
        }
        if ((bool?)last["isRefused"] != false) throw AdminCall.Refusal(replica, error);
        screen.Show(new InPlaceUpgradeReport(replica, null, null, error, null, IsPrimary: false));
        return ToolExit.Damage;
    }

    /// <summary>The coordinator starts the app in a directory of its own, so what is named from here is named in full.</summary>
    private static string Full(string word) =>
        !Path.IsPathRooted(word) && (word.Contains('/') || word.EndsWith(".dll", StringComparison.Ordinal)) && File.Exists(word)
            ? Path.GetFullPath(word) : word;

    /// <summary>Asks, and tells of each stage; returns the last answer.</summary>
    private static JsonObject Ask(string directory, string replica, JsonObject request, TimeSpan patience, Screen screen)
    {
        JsonObject? last = null;
        try
        {
            foreach (JsonObject answer in AdminClient.Ask(new PosixFileSystem(), directory, replica, request, patience))
            {
                last = answer;
                if (!screen.IsJson && Stage(answer) is { } stage) screen.Live($"{replica}: {stage}");
            }
        }
        catch (AdminUnreachableException e)
        {
            throw new ToolMisuse($"replica '{replica}' gives no answer", e.Message.TrimEnd('.'),
                "'ambrosia status' shows which version is in force");
        }
        return last!;
    }

    private static string? Stage(JsonObject answer) => (string?)answer["stage"] switch
    {
        "starting" => "the new app is started",
        "rehearsing" when (string?)answer["why"] is { } why => $"a rehearsal failed, and is repeated: {why}",
        "rehearsing" => $"version {(uint?)answer["version"]} rehearses on a copy of the live state",
        "switching" => "the rehearsal has worked; callers wait while the state is converted",
        _ => null,
    };
}

/// <summary>Says what became of an upgrade under a running primary.</summary>
/// <param name="From">The version before; null where the new one is not in force.</param>
/// <param name="Version">The version in force; likewise.</param>
/// <param name="Why">Why the new version is not in force, as far as is known; null where it is.</param>
/// <param name="CommandLine">The options that a later start of the coordinator needs.</param>
/// <param name="IsPrimary">The new app serves.</param>
internal sealed record InPlaceUpgradeReport(
    string Replica, uint? From, uint? Version, string? Why, string? CommandLine, bool IsPrimary) : IReport
{
    public void Draw(Screen screen)
    {
        if (Why is not null)
        {
            screen.Line($"{Replica}: {Why}", Tone.Warning);
            return;
        }
        if (IsPrimary) screen.Line($"{Replica}: version {Version} is in force behind version {From}, and its app is primary", Tone.Good);
        else
            screen.Line(
                $"{Replica}: version {Version} is in force behind version {From}, and its app is not primary yet; its own lines say why",
                Tone.Bad);
        screen.Line($"The coordinator's command line still names the app of version {From}, and a start with it ends with exit code 76.");
        screen.Line($"Start it from now on with: {CommandLine}");
        screen.Line($"The old build may go when 'ambrosia status' says so; without it, leave --upgrade-to and --old-app out.");
    }
}
