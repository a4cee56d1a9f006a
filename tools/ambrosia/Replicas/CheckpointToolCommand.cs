using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>The command <c>ambrosia checkpoint DIR</c> has a checkpoint taken now, and comes back when it is published.</summary>
internal sealed class CheckpointToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    public CheckpointToolCommand(ToolStreams streams)
        : base(streams, "checkpoint", "Has a checkpoint taken that holds all that is durable now. It asks the replica that is primary.")
    {
        Add(_directory);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        JsonObject answer = AdminCall.Ask(log.Path, AdminCall.PrimaryOf(log.Path), new JsonObject { ["command"] = "checkpoint" });
        screen.Show(new CheckpointReport((string?)answer["published"] ?? "", (ulong?)answer["lsn"] ?? 0));
        return ToolExit.Fine;
    }
}

/// <summary>Says which checkpoint was published.</summary>
/// <param name="Lsn">It holds all that stands below.</param>
internal sealed record CheckpointReport(string Checkpoint, ulong Lsn) : IReport
{
    public void Draw(Screen screen) => screen.Line($"{Checkpoint} is published; it holds all below Lsn {Lsn}", Tone.Good);
}
