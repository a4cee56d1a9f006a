using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>The command <c>ambrosia retire DIR REPLICA</c> ends a replica cleanly.</summary>
internal sealed class RetireToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Argument<string> _replica = new("REPLICA") { Description = "Name of the replica." };
    private readonly Option<bool> _force = new("--force") { Description = "End it even if it is the last replica." };

    public RetireToolCommand(ToolStreams streams)
        : base(streams, "retire",
            "Ends a replica cleanly. A primary is ended only if another replica can follow it.")
    {
        Add(_directory);
        Add(_replica);
        Add(_force);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        string replica = parsed.GetRequiredValue(_replica);
        bool hasEnded = AdminCall.End(log.Path, replica, parsed.GetValue(_force), out JsonObject answer);
        string[] successors = [.. (answer["successors"] as JsonArray ?? []).Select(static name => (string?)name ?? "")];
        string remain = successors.Length == 0 ? "no other replica runs" : $"there remain {string.Join(", ", successors)}";
        screen.Show(
            new ReplicaCommandReport(
                replica, $"{(hasEnded ? "has ended" : "was told to end, and has not")}; {remain}", HasEnded: hasEnded,
                Successors: successors));
        return hasEnded ? ToolExit.Fine : ToolExit.Damage;
    }
}
