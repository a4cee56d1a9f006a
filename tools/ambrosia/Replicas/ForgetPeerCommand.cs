using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Pumps;

namespace Ambrosia.Tools;

/// <summary>ambrosia forget-peer DIR PEER: asks whichever replica of the log is primary.</summary>
internal sealed class ForgetPeerCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log that remembers the peer." };
    private readonly Argument<string> _peer = new("PEER") { Description = "Name of the instance whose log is gone for good." };

    public ForgetPeerCommand(ToolStreams streams)
        : base(streams, "forget-peer",
            "Gives up an instance that was deleted: calls to it that it is not known to have are dropped, and its name is free for another.")
    {
        Add(_directory);
        Add(_peer);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        string peer = parsed.GetRequiredValue(_peer), replica = PrimaryOf(place);
        var answer = AdminCall.Ask(place.Directory, replica, new JsonObject { ["command"] = "forget-peer", ["peer"] = peer });
        screen.Show(new ForgottenPeer(peer, (string?)answer["forgotten"] ?? "", (ulong?)answer["calls"] ?? 0));
        return ToolExit.Fine;
    }

    private static string PrimaryOf(LogPlace place)
    {
        IReadOnlyList<string> named = AdminClient.Replicas(place.Files, place.Directory);
        return named.FirstOrDefault(replica => (string?)AdminCall.Status(place.Files, place.Directory, replica)?["role"] == "primary")
            ?? throw new ToolMisuse($"no replica on {place.Directory} is primary here", "only the primary writes the log",
                "run the command where the primary runs, or start one");
    }
}
