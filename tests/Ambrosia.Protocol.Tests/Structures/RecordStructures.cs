using System.Text.Json.Nodes;
using Ambrosia.Protocol.Records;
using static Ambrosia.Protocol.Tests.AllStructures;

namespace Ambrosia.Protocol.Tests;

/// <summary>Record bodies, and records one behind another.</summary>
internal static class RecordStructures
{
    public static IEnumerable<KeyValuePair<string, Structure>> All =>
    [
        Record<PeerRecord>("Peer", static x => new()
        {
            ["origin"] = x.Origin, ["shard"] = x.Peer.Shard, ["uuid"] = x.Uuid.ToString(), ["epoch"] = Text(x.Epoch.Value),
            ["name"] = x.Peer.Name,
        }),
        Record<ForgetRecord>("Forget", static x => new() { ["origin"] = x.Origin, ["uuid"] = x.Uuid.ToString() }),
        Record<FirstStartRecord>("FirstStart", static x => new()
        {
            ["uuid"] = x.Uuid.ToString(), ["createdUs"] = Text(x.CreatedUs), ["appVersion"] = x.AppVersion, ["name"] = x.Name,
        }),
        Record<TrimRecord>("Trim", static x => new()
        {
            ["positions"] = new JsonArray(
                [.. x.Positions.Select(static p => new JsonObject { ["origin"] = p.Origin, ["number"] = Text(p.Number) })]),
        }),
        Record<DigestRecord>("Digest", Show, Ends.Anywhere), // the answers may be left out
        Record<CheckpointMarkRecord>("CheckpointMark",
            static x => new() { ["epoch"] = Text(x.Epoch.Value), ["boundBytes"] = Text(x.BoundBytes), ["replica"] = x.Replica }),
        Record<NondetResultRecord>("NondetResult",
            static x => new() { ["task"] = Text(x.Task), ["failed"] = x.Failed, ["result"] = Hex(x.Result.Span) }, Ends.Anywhere),
        Record<TimerFiredRecord>("TimerFired", static x => new() { ["timer"] = Text(x.Timer), ["dueUs"] = Text(x.DueUs) }),
        Record<ClientRequestRecord>("ClientRequest", static x => new()
        {
            ["session"] = x.Session.ToUuid().ToString(), ["request"] = Text(x.Request), ["keyed"] = x.Keyed,
            ["message"] = Hex(x.Message.Span),
        }),
        Record<PolicyRecord>("Policy", Show, Ends.Anywhere), // its last field may be left out
        Record<QuarantineRecord>("Quarantine",
            static x => new() { ["record"] = Text(x.Message.Record.Value), ["index"] = x.Message.Index, ["action"] = (int)x.Action }),
        Record<UpgradeRecord>("Upgrade", static x => new()
        {
            ["versionFrom"] = x.VersionFrom, ["versionTo"] = x.VersionTo, ["checkpoint"] = Text(x.Checkpoint.Value),
            ["checkpointEpoch"] = Text(x.CheckpointEpoch.Value), ["replica"] = x.Replica, ["partHash"] = Hex(x.PartHash),
            ["imageHash"] = Hex(x.ImageHash), ["build"] = x.Build?.ToString() ?? "",
        }),
        Record<BuildRecord>("Build", static x => new()
        {
            ["epoch"] = Text(x.Epoch.Value), ["appVersion"] = x.AppVersion, ["build"] = x.Build?.ToString() ?? "", ["binding"] = x.Binding,
            ["runtime"] = x.Runtime, ["culture"] = x.Culture, ["cpu"] = x.Cpu, ["contractHash"] = Text(x.ContractHash),
            ["coordinator"] = x.Coordinator,
        }),
        Record<StateHashRecord>("StateHash", static x => new() { ["place"] = Text(x.Place.Value), ["hash"] = Hex(x.Hash) }),
        new("records", new Structure(
            static (bytes, context) => new() { ["records"] = Walk(bytes, new Lsn(ulong.Parse((string)context["first"]!))) },
            static (bytes, _) => Again(bytes), Ends.Anywhere)),
    ];

    private static JsonObject Show(DigestRecord x)
    {
        JsonObject shown = new()
        {
            ["position"] = Text(x.Position.Value),
            ["entries"] = new JsonArray([.. x.Entries.Select(static e => new JsonObject
            {
                ["shard"] = e.Destination.Shard, ["name"] = e.Destination.Name, ["count"] = Text(e.Count), ["hash"] = Hex(e.Hash),
            })]),
        };
        if (x.Answers.Count > 0) shown["answers"] = Show(x.Answers);
        return shown;
    }

    internal static JsonObject Show(AnswerDigest x) => new() { ["count"] = Text(x.Count), ["hash"] = Hex(x.Hash) };

    internal static JsonObject Show(PolicyRecord x)
    {
        JsonObject shown = new()
        {
            ["forks"] = (int)x.Forks, ["windowUs"] = Text(x.WindowUs), ["entriesMax"] = Text(x.EntriesMax), ["bytesMax"] = Text(x.BytesMax)
        };
        if (x.MessageBytesMax != SizeLimits.MessageBytesMaxDefault) shown["messageBytesMax"] = x.MessageBytesMax;
        return shown;
    }

    public static JsonArray Walk(ReadOnlySpan<byte> bytes, Lsn first)
    {
        var shown = new JsonArray();
        var records = new RecordReader(bytes, first);
        while (records.Next())
        {
            ReadBody(records);
            shown.Add(new JsonObject { ["lsn"] = Text(records.Lsn.Value), ["kind"] = (int)records.Kind, ["body"] = Hex(records.Body) });
        }
        Assert.Equal(first + bytes.Length, records.Lsn);
        return shown;
    }

    private static void ReadBody(RecordReader record)
    {
        switch (record.Kind)
        {
            case RecordKind.Run or RecordKind.ImpulseRun: record.ReadRun(); break;
            case RecordKind.FirstStart: record.Read<FirstStartRecord>(); break;
            case RecordKind.Peer: record.Read<PeerRecord>(); break;
            case RecordKind.Trim: record.Read<TrimRecord>(); break;
            case RecordKind.Digest: record.Read<DigestRecord>(); break;
            case RecordKind.CheckpointMark: record.Read<CheckpointMarkRecord>(); break;
            case RecordKind.NondetResult: record.Read<NondetResultRecord>(); break;
            case RecordKind.TimerFired: record.Read<TimerFiredRecord>(); break;
            case RecordKind.Policy: record.Read<PolicyRecord>(); break;
            case RecordKind.Quarantine: record.Read<QuarantineRecord>(); break;
            case RecordKind.ClientRequest: record.Read<ClientRequestRecord>(); break;
            case RecordKind.StateHash: record.Read<StateHashRecord>(); break;
            case RecordKind.Upgrade: record.Read<UpgradeRecord>(); break;
            case RecordKind.Build: record.Read<BuildRecord>(); break;
            case RecordKind.Forget: record.Read<ForgetRecord>(); break;
            default: throw new InvalidOperationException($"{record.Kind} should have been refused");
        }
    }

    private static byte[] Again(ReadOnlySpan<byte> bytes)
    {
        var again = new List<byte>();
        var records = new RecordReader(bytes, Lsn.Zero);
        Span<byte> header = stackalloc byte[RecordHeader.Bytes];
        while (records.Next())
        {
            new RecordHeader((uint)records.Body.Length, records.Kind).Write(header);
            again.AddRange(header);
            again.AddRange(records.Body);
        }
        return [.. again];
    }
}
