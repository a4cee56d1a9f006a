using System.CommandLine;
using System.Text.Json.Nodes;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>
/// The command <c>ambrosia forget-peer DIR PEER</c> gives up an instance whose log is gone, or all that a pattern names. It asks the
/// replica that is primary.
/// </summary>
internal sealed class ForgetPeerToolCommand : ToolCommand
{
    private const int ShownMax = 20;

    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log that remembers the peer." };
    private readonly Argument<string> _peer = new("PEER")
    {
        Description = "Name of the instance whose log is gone for good, or a pattern of such names: * for any characters, ? for one.",
    };
    private readonly Option<bool> _yes = new("--yes") { Description = "Forget all that the pattern names, and do not ask." };

    public ForgetPeerToolCommand(ToolStreams streams)
        : base(streams, "forget-peer",
            "Gives up an instance that was deleted. Calls to it that it has not acknowledged are dropped, and its name is free for another instance.")
    {
        Add(_directory);
        Add(_peer);
        Add(_yes);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        string peer = parsed.GetRequiredValue(_peer), replica = AdminCall.PrimaryOf(log.Path);
        if (peer.AsSpan().ContainsAny('*', '?')) return ForgetAll(log.Path, replica, peer, parsed.GetValue(_yes), screen);
        screen.Show(Forget(log.Path, replica, peer));
        return ToolExit.Fine;
    }

    private static ForgetPeerReport Forget(string log, string replica, string peer)
    {
        JsonObject answer = AdminCall.Ask(log, replica, new JsonObject { ["command"] = "forget-peer", ["peer"] = peer });
        return new ForgetPeerReport(peer, (string?)answer["forgotten"] ?? "", (ulong?)answer["calls"] ?? 0);
    }

    private static int ForgetAll(string log, string replica, string pattern, bool isAgreed, Screen screen)
    {
        JsonObject answer = AdminCall.Ask(log, replica, new JsonObject { ["command"] = "forget-peer", ["pattern"] = pattern });
        (string Peer, ulong Calls)[] peers =
            [.. (answer["peers"] as JsonArray ?? []).Select(static each => ((string?)each?["peer"] ?? "", (ulong?)each?["calls"] ?? 0))];
        long more = (long?)answer["more"] ?? 0;
        if (peers is [])
            throw new ToolMisuse($"no peer of {log} is named like '{pattern}'", "the log knows none that is not connected",
                "'ambrosia status' lists the links");
        if (!isAgreed)
        {
            if (screen.IsJson) throw new ToolMisuse("--json asks nothing", $"'{pattern}' names {peers.Length + more} peers", "give --yes");
            foreach ((string peer, ulong calls) in peers.Take(ShownMax)) screen.Line($"{peer}, {calls} calls wait");
            if (peers.Length + more > ShownMax) screen.Line($"and {peers.Length + more - ShownMax} more");
            string those = peers.Length == 1 ? "this instance" : $"these {peers.Length} instances";
            ulong waiting = peers.Aggregate(0ul, static (sum, each) => sum + each.Calls);
            if (!screen.Confirms($"Forget {those}, and drop {waiting} calls? This cannot be undone."))
            {
                screen.Note("nothing is forgotten");
                return ToolExit.Damage;
            }
        }
        foreach ((string peer, _) in peers) screen.Show(Forget(log, replica, peer));
        if (more > 0) screen.Note($"{more} more peers are named like '{pattern}': give the command again");
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
