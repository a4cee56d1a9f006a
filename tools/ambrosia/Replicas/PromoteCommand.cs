using System.CommandLine;
using System.Text.Json.Nodes;

namespace Ambrosia.Tools;

/// <summary>ambrosia promote DIR REPLICA.</summary>
internal sealed class PromoteCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Argument<string> _replica = new("REPLICA") { Description = "Name of the replica." };

    public PromoteCommand(ToolStreams streams)
        : base(streams, "promote", "Makes a secondary primary, whoever is; that one ends (75) and may be started again as a secondary.")
    {
        Add(_directory);
        Add(_replica);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        string replica = parsed.GetRequiredValue(_replica);
        var answer = AdminCall.Ask(place.Directory, replica, new JsonObject { ["command"] = "promote" });
        ulong epoch = (ulong?)answer["epoch"] ?? 0;
        screen.Show(new ReplicaAnswer(replica, $"is primary in epoch {epoch}", epoch));
        return ToolExit.Fine;
    }
}
