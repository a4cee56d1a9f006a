using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>
/// The command <c>ambrosia forget-peer DIR PEER</c> gives up an instance whose log is gone. It asks the replica that is primary.
/// </summary>
internal sealed class ForgetPeerToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log that remembers the peer." };
    private readonly Argument<string> _peer = new("PEER") { Description = "Name of the instance whose log is gone for good." };

    public ForgetPeerToolCommand(ToolStreams streams)
        : base(streams, "forget-peer",
            "Gives up an instance that was deleted. Calls to it that it has not acknowledged are dropped, and its name is free for another instance.")
    {
        Add(_directory);
        Add(_peer);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        string peer = parsed.GetRequiredValue(_peer), replica = AdminCall.PrimaryOf(log.Path);
        var answer = AdminCall.Ask(log.Path, replica, new JsonObject { ["command"] = "forget-peer", ["peer"] = peer });
        screen.Show(new ForgetPeerReport(peer, (string?)answer["forgotten"] ?? "", (ulong?)answer["calls"] ?? 0));
        return ToolExit.Fine;
    }
}

/// <summary>It reports that a peer is forgotten.</summary>
/// <param name="Uuid">The instance that it was. No instance with this UUID is accepted again.</param>
/// <param name="DroppedCalls">The number of calls that it has not acknowledged and that nobody gets any more.</param>
internal sealed record ForgetPeerReport(string Peer, string Uuid, ulong DroppedCalls) : IReport
{
    public void Draw(Screen screen) => screen.Line($"{Peer} ({Uuid}) is forgotten; {DroppedCalls} calls to it are dropped", Tone.Good);
}
