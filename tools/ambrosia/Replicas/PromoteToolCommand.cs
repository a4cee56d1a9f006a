using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>The command <c>ambrosia promote DIR REPLICA</c> makes a secondary primary.</summary>
internal sealed class PromoteToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Argument<string> _replica = new("REPLICA") { Description = "Name of the replica." };

    private readonly TimeOption _within = new(
        "--within", "1m", "How long it has. When that is over, it ends with 1 and says how far it has come.");

    public PromoteToolCommand(ToolStreams streams)
        : base(streams, "promote", "Makes a secondary primary. The replica that was primary ends (exit code 75) and may be started again as a secondary.")
    {
        Add(_directory);
        Add(_replica);
        Add(_within);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        string replica = parsed.GetRequiredValue(_replica);
        if (AdminCall.AskWithin(_within.Of(parsed), log.Path, replica,
            new JsonObject { ["command"] = "promote" }, out JsonObject answer) is { } late)
        {
            screen.Show(new ReplicaCommandReport(replica, $"is not primary: {late}", HasClaimed: (bool?)answer["hasClaimed"] == true));
            return ToolExit.Damage;
        }
        ulong epoch = (ulong?)answer["epoch"] ?? 0;
        screen.Show(new ReplicaCommandReport(replica, $"is primary in epoch {epoch}", epoch));
        return ToolExit.Fine;
    }
}

/// <summary>Reports what a command to one replica has done.</summary>
/// <param name="Done">What was done, in words.</param>
/// <param name="Epoch">The epoch in which it is primary, or null where the command has none.</param>
/// <param name="HasEnded">True if its process does not answer any more; null where it was not to end.</param>
/// <param name="Successors">The other replicas that run, or null where the command does not ask for them.</param>
/// <param name="HasClaimed">Whether a promotion that came to no end in time has claimed the log; null where it came to its end.</param>
internal sealed record ReplicaCommandReport(
    string Replica, string Done, ulong? Epoch = null, bool? HasEnded = null, IReadOnlyList<string>? Successors = null,
    bool? HasClaimed = null) : IReport
{
    public void Draw(Screen screen) =>
        screen.Line($"{Replica}: {Done}", HasEnded == false || HasClaimed is not null ? Tone.Warning : Tone.Good);
}
