using System.CommandLine;
using System.Text.Json.Nodes;

namespace Ambrosia.Tools;

/// <summary>ambrosia retire DIR REPLICA.</summary>
internal sealed class RetireCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Argument<string> _replica = new("REPLICA") { Description = "Name of the replica." };
    private readonly Option<bool> _force = new("--force") { Description = "Even the last replica." };

    public RetireCommand(ToolStreams streams)
        : base(streams, "retire",
            "Ends a replica cleanly, with a checkpoint if one comes soon; of a primary only if another replica can follow.")
    {
        Add(_directory);
        Add(_replica);
        Add(_force);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        string replica = parsed.GetRequiredValue(_replica);
        var answer = AdminCall.Ask(place.Directory, replica,
            new JsonObject { ["command"] = "retire", ["force"] = parsed.GetValue(_force) });
        string[] successors = [.. (answer["successors"] as JsonArray ?? []).Select(static name => (string?)name ?? "")];
        bool hasEnded = AdminCall.AwaitEnd(place.Directory, replica);
        string remain = successors.Length == 0 ? "no other replica runs" : $"there remain {string.Join(", ", successors)}";
        screen.Show(
            new ReplicaAnswer(replica, $"{(hasEnded ? "has ended" : "was told to end, and still answers")}; {remain}", HasEnded: hasEnded,
                Successors: successors));
        return hasEnded ? ToolExit.Fine : ToolExit.Damage;
    }
}
