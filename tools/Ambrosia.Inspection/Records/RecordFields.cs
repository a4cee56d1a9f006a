using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Texts;

namespace Ambrosia.Inspection.Records;

/// <summary>Decodes records that carry no run into names and values (log-format L5).</summary>
internal static class RecordFields
{
    private static readonly OriginNames s_nobody = new(new InstanceIdentity("nobody", 0, Guid.Empty, 0));

    /// <summary>Verifies that a record can be decoded.</summary>
    /// <exception cref="ProtocolViolation">The record breaks its format (L5.10).</exception>
    public static void Check(RecordKind kind, ReadOnlySpan<byte> body) => Of(kind, body, s_nobody);

    /// <summary>Decodes a record.</summary>
    /// <exception cref="ProtocolViolation">The record breaks its format (L5.10).</exception>
    public static IReadOnlyDictionary<string, object> Of(RecordKind kind, ReadOnlySpan<byte> body, OriginNames names) => kind switch
    {
        RecordKind.FirstStart => Of(FirstStartRecord.Read(body)),
        RecordKind.Peer => Of(PeerRecord.Read(body)),
        RecordKind.Forget =>
            new Dictionary<string, object>
            {
                ["origin"] = ForgetRecord.Read(body).Origin, ["instance"] = names[ForgetRecord.Read(body).Origin],
                ["uuid"] = ForgetRecord.Read(body).Uuid.ToString()
            },
        RecordKind.Trim => Of(TrimRecord.Read(body), names),
        RecordKind.Digest => Of(DigestRecord.Read(body)),
        RecordKind.CheckpointMark => Of(CheckpointMarkRecord.Read(body)),
        RecordKind.NondetResult => Of(NondetResultRecord.Read(body)),
        RecordKind.TimerFired => Of(TimerFiredRecord.Read(body)),
        RecordKind.ClientRequest => Of(ClientRequestRecord.Read(body)),
        RecordKind.Policy => Of(PolicyRecord.Read(body)),
        RecordKind.Quarantine => Of(QuarantineRecord.Read(body)),
        RecordKind.Upgrade => Of(UpgradeRecord.Read(body)),
        RecordKind.Build => Of(BuildRecord.Read(body)),
        RecordKind.StateHash => Of(StateHashRecord.Read(body)),
        _ => new Dictionary<string, object> { ["bytes"] = body.Length },
    };

    private static Dictionary<string, object> Of(FirstStartRecord record) => new()
    {
        ["instance"] = record.Name, ["uuid"] = record.Uuid.ToString(),
        ["created"] = TextFormat.Time(checked((long)Math.Min(record.CreatedUs, long.MaxValue))), ["appVersion"] = record.AppVersion,
    };

    private static Dictionary<string, object> Of(BuildRecord record) => new()
    {
        ["epoch"] = record.Epoch.Value, ["appVersion"] = record.AppVersion, ["build"] = record.Build?.ToString() ?? "unknown",
        ["binding"] = record.Binding, ["runtime"] = record.Runtime, ["culture"] = record.Culture, ["cpu"] = record.Cpu,
        ["coordinator"] = record.Coordinator,
    };

    private static Dictionary<string, object> Of(PeerRecord record) => new()
    {
        ["origin"] = record.Origin, ["instance"] = record.Peer.ToString(), ["uuid"] = record.Uuid.ToString(),
        ["epoch"] = record.Epoch.Value,
    };

    private static Dictionary<string, object> Of(TrimRecord record, OriginNames names) =>
        new() { ["upTo"] = record.Positions.Select(position => $"{names[position.Origin]} #{position.Number}").ToArray() };

    private static Dictionary<string, object> Of(DigestRecord record)
    {
        var fields = new Dictionary<string, object>
        {
            ["position"] = record.Position.Value,
            ["outputs"] = record.Entries.Select(static each => $"{each.Destination} #{each.Count} {TextFormat.Hash(each.Hash)}").ToArray(),
        };
        if (record.Answers.Count > 0) fields["answers"] = $"#{record.Answers.Count} {TextFormat.Hash(record.Answers.Hash)}";
        return fields;
    }

    private static Dictionary<string, object> Of(CheckpointMarkRecord record) =>
        new() { ["replica"] = record.Replica, ["epoch"] = record.Epoch.Value, ["boundBytes"] = record.BoundBytes };

    private static Dictionary<string, object> Of(NondetResultRecord record) => new()
    {
        ["task"] = record.Task, ["failed"] = record.Failed, ["result"] = CborDiagnostic.OfSequence(record.Result.Span, 256),
    };

    private static Dictionary<string, object> Of(TimerFiredRecord record) =>
        new() { ["timer"] = record.Timer, ["due"] = TextFormat.Time(record.DueUs) };

    private static Dictionary<string, object> Of(ClientRequestRecord record) => new()
    {
        ["session"] = record.Session.ToString(), ["request"] = record.Request, ["keyed"] = record.Keyed,
        ["messageBytes"] = record.Message.Length,
    };

    private static Dictionary<string, object> Of(PolicyRecord record) => new()
    {
        ["forks"] = record.Forks.ToString(), ["windowMicros"] = record.WindowUs, ["entriesMax"] = record.EntriesMax,
        ["bytesMax"] = record.BytesMax,
        ["messageBytesMax"] = record.MessageBytesMax,
    };

    private static Dictionary<string, object> Of(QuarantineRecord record) =>
        new() { ["message"] = record.Message.ToString(), ["action"] = record.Action.ToString() };

    private static Dictionary<string, object> Of(StateHashRecord record) => new()
    {
        ["lsn"] = record.Place.Value, ["hash"] = TextFormat.Hash(record.Hash),
    };

    private static Dictionary<string, object> Of(UpgradeRecord record) => new()
    {
        ["from"] = record.VersionFrom, ["to"] = record.VersionTo,
        ["checkpoint"] = $"ckpt.{record.Checkpoint}.{record.CheckpointEpoch}.{record.Replica}",
        ["partHash"] = TextFormat.Hash(record.PartHash), ["imageHash"] = TextFormat.Hash(record.ImageHash),
        ["build"] = record.Build?.ToString() ?? "not known",
    };
}

/// <summary>
/// Knows the instance behind each origin id of a log. An id never changes its meaning, so the list of a later checkpoint serves earlier
/// records too; Peer records that are read on the way add to it.
/// </summary>
internal sealed class OriginNames
{
    private readonly Dictionary<uint, string> _names = [];

    public OriginNames(InstanceIdentity identity) => _names[0] = new InstanceId(identity.Name, identity.Shard).ToString();

    public string this[uint origin] => _names.TryGetValue(origin, out string? name) ? name : $"origin {origin}";

    public void Add(PeerRecord peer) => _names[peer.Origin] = peer.Peer.ToString();

    public void Add(CoordinatorPart part)
    {
        foreach (CheckpointPeer peer in part.Peers) _names[peer.Origin] = peer.Peer.ToString();
    }
}
