using System.Text.Json.Nodes;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using static Ambrosia.Protocol.Tests.AllStructures;

namespace Ambrosia.Protocol.Tests;

/// <summary>The coordinator's part of a checkpoint.</summary>
internal static class CheckpointStructures
{
    public static IEnumerable<KeyValuePair<string, Structure>> All =>
        [new("coordinatorPart",
            new Structure(static (bytes, _) => Show(CoordinatorPart.Read(bytes)),
                static (bytes, _) => CoordinatorPart.Read(bytes).ToBytes()))];

    private static JsonObject Show(CoordinatorPart part)
    {
        JsonObject shown = Always(part);
        if (part.Answers.Count > 0) shown["answers"] = RecordStructures.Show(part.Answers);
        if (part.Policy != PolicyRecord.Default) shown["policy"] = RecordStructures.Show(part.Policy);
        return shown;
    }

    private static JsonObject Always(CoordinatorPart part) => new()
    {
        ["peers"] = new JsonArray([.. part.Peers.Select(static x => new JsonObject
        {
            ["origin"] = x.Origin, ["shard"] = x.Peer.Shard, ["uuid"] = x.Uuid.ToString(), ["epoch"] = Text(x.Epoch.Value),
            ["name"] = x.Peer.Name, ["impulses"] = Text(x.Impulses),
        })]),
        ["inputs"] = new JsonArray(
            [.. part.Inputs.Select(
                static x => new JsonObject { ["origin"] = x.Origin, ["number"] = Text(x.Number), ["hash"] = Hex(x.Hash) })]),
        ["outputs"] = new JsonArray([.. part.Outputs.Select(static x => new JsonObject
        {
            ["shard"] = x.Destination.Shard, ["name"] = x.Destination.Name, ["number"] = Text(x.Number), ["hash"] = Hex(x.Hash),
            ["lastKind"] = (int)x.LastKind,
            ["trimmedNumber"] = Text(x.TrimmedNumber), ["trimmedHash"] = Hex(x.TrimmedHash), ["trimmedLastKind"] = (int)x.TrimmedLastKind,
        })]),
        ["digestPosition"] = Text(part.DigestPosition.Value),
        ["digestCounts"] = new JsonArray([.. part.DigestCounts.Select(static x => new JsonObject
        {
            ["shard"] = x.Destination.Shard, ["name"] = x.Destination.Name, ["count"] = Text(x.Count),
        })]),
    };
}
