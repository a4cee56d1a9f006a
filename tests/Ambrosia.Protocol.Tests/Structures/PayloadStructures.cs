using System.Buffers;
using System.Text.Json.Nodes;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using static Ambrosia.Protocol.Tests.AllStructures;

namespace Ambrosia.Protocol.Tests;

/// <summary>Payloads of control frames and of Deliver.</summary>
internal static class PayloadStructures
{
    public static IEnumerable<KeyValuePair<string, Structure>> All =>
    [
        Payload<AppHello>("AppHello", static x => new()
        {
            ["versionMin"] = x.VersionMin, ["versionMax"] = x.VersionMax, ["token"] = Hex(x.Token.Span), ["appVersion"] = x.AppVersion,
            ["imageVersion"] = x.ImageVersion,
            ["binding"] = x.Binding, ["runtime"] = x.Runtime, ["culture"] = x.Culture, ["cpu"] = x.Cpu,
            ["contractHash"] = Text(x.ContractHash), ["processId"] = x.ProcessId, ["options"] = x.Options.ToString(),
        }),
        Payload<AppWelcome>("AppWelcome", static x => new()
        {
            ["version"] = x.Version, ["instance"] = x.Instance.Name, ["shard"] = x.Instance.Shard, ["replica"] = x.Replica,
            ["uuid"] = x.Uuid.ToString(),
            ["epoch"] = Text(x.Epoch.Value), ["session"] = Text(x.Session), ["messageBytesMax"] = x.MessageBytesMax,
            ["checkpoint"] = Text(x.Checkpoint.Value), ["hasImage"] = x.HasImage, ["options"] = x.Options.ToString(),
        }),
        Payload<DestinationFrame>("Destination",
            static x => new() { ["index"] = x.Index, ["shard"] = x.Destination.Shard, ["name"] = x.Destination.Name }),
        Payload<ProcessedFrame>("Processed", static x => new() { ["position"] = Text(x.Position.Value) }),
        Payload<Look>("Look", static x => new()
        {
            ["position"] = Text(x.Place.Record.Value), ["index"] = x.Place.Index, ["flags"] = (byte)x.Flags,
        }),
        Payload<Seen>("Seen", static x => new()
        {
            ["position"] = Text(x.Place.Record.Value), ["index"] = x.Place.Index, ["reason"] = x.GoesOn ? 1 : 0,
            ["times"] = new JsonArray([.. x.Times.Select(static row => new JsonObject
            {
                ["method"] = row.Method, ["messages"] = Text(row.Messages), ["nanoseconds"] = Text(row.Nanoseconds),
            })]),
        }),
        Payload<ConvertFrame>("Convert", static x => new()
        {
            ["position"] = Text(x.Position.Value), ["from"] = x.From, ["to"] = x.To, ["use"] = (byte)x.Use,
        }),
        Payload<ConvertedFrame>("Converted", static x => new()
        {
            ["position"] = Text(x.Position.Value), ["use"] = (byte)x.Use, ["length"] = Text(x.Length), ["hash"] = $"{x.Hash:x16}",
            ["why"] = x.Why,
        }),
        Payload<ExecutingFrame>("Executing", static x => new() { ["position"] = Text(x.Place.Record.Value), ["index"] = x.Place.Index }),
        Payload<PrimaryReady>("PrimaryReady", static x => new() { ["position"] = Text(x.Position.Value) }),
        Payload<BecomePrimary>("BecomePrimary", static x => new() { ["position"] = Text(x.Position.Value) }),
        Payload<ImageBegin>("ImageBegin", static x => new() { ["position"] = Text(x.Position.Value), ["imageVersion"] = x.ImageVersion }),
        Payload<ImageEnd>("ImageEnd", static x => new() { ["length"] = Text(x.Length), ["hash"] = Hex(x.Hash) }),
        Payload<ImpulseLogged>("ImpulseLogged", static x => new() { ["destination"] = x.Destination, ["ticket"] = Text(x.Ticket) }),
        Payload<TimerSet>("TimerSet", static x => new() { ["timer"] = Text(x.Timer), ["dueUs"] = Text(x.DueUs) }),
        Payload<TimerDropped>("TimerDropped", static x => new() { ["timer"] = Text(x.Timer) }),
        Payload<Waiting>("Waiting", static x => new() { ["mark"] = Text(x.Mark.Value), ["why"] = x.Why }),
        Payload<SetAsideFrame>("SetAside", static x => new()
        {
            ["decision"] = Text(x.Decision), ["record"] = Text(x.Message.Record.Value), ["index"] = x.Message.Index,
            ["isUnlogged"] = x.IsUnlogged, ["timeUs"] = Text(x.TimeUs),
            ["shard"] = x.Caller.Shard, ["caller"] = x.Caller.Name, ["kind"] = (int)x.Kind, ["method"] = x.Method, ["tries"] = x.Tries,
            ["argumentBytes"] = Text(x.ArgumentBytes), ["why"] = x.Why,
        }),
        Payload<ReleasedFrame>("Released", static x => new() { ["record"] = Text(x.Message.Record.Value), ["index"] = x.Message.Index }),
        Payload<PolicyAhead>("PolicyAhead", static x => new()
        {
            ["changes"] = new JsonArray(
                [.. x.Changes.Select(static c => new JsonObject { ["position"] = Text(c.Position.Value), ["forks"] = (int)c.Forks })]),
        }),
        Payload<RingsFrame>("Rings", static x => new() { ["capacity"] = x.Capacity, ["path"] = x.Path }),
        Payload<Goodbye>("Goodbye", static x => new() { ["code"] = (int)x.Code, ["why"] = x.Why }),
        Payload<Hello>("Hello", static x => new()
        {
            ["versionMin"] = x.VersionMin, ["versionMax"] = x.VersionMax, ["uuid"] = x.Uuid.ToString(), ["shard"] = x.Instance.Shard,
            ["name"] = x.Instance.Name,
            ["replica"] = x.Replica, ["epoch"] = Text(x.Epoch.Value), ["nonce"] = Text(x.Nonce), ["peerName"] = x.PeerName,
            ["peerUuid"] = x.PeerUuid.ToString(),
            ["peerEpoch"] = Text(x.PeerEpoch.Value), ["durable"] = Text(x.Durable), ["hash"] = Hex(x.Hash), ["trimmed"] = Text(x.Trimmed),
            ["impulseEpoch"] = Text(x.ImpulseEpoch.Value), ["impulses"] = Text(x.Impulses), ["messageBytesMax"] = x.MessageBytesMax,
            ["options"] = x.Options.ToString(),
        }),
        Payload<Ack>("Ack",
            static x =>
                new() { ["durable"] = Text(x.Durable), ["impulseEpoch"] = Text(x.ImpulseEpoch.Value), ["impulses"] = Text(x.Impulses) }),
        Payload<ClientHello>("ClientHello", static x => new()
        {
            ["versionMin"] = x.VersionMin, ["versionMax"] = x.VersionMax, ["shard"] = x.Instance.Shard, ["instance"] = x.Instance.Name,
            ["uuid"] = x.Uuid.ToString(), ["client"] = x.Client, ["messageBytesMax"] = x.MessageBytesMax, ["queriesOnly"] = x.QueriesOnly,
            ["options"] = x.Options.ToString(),
        }),
        Payload<ClientWelcome>("ClientWelcome", static x => new()
        {
            ["version"] = x.Version, ["uuid"] = x.Uuid.ToString(), ["replica"] = x.Replica, ["epoch"] = Text(x.Session.Epoch.Value),
            ["session"] = Text(x.Session.Number),
            ["messageBytesMax"] = x.MessageBytesMax, ["requestsMax"] = x.RequestsMax, ["options"] = x.Options.ToString(),
        }),
        Payload<ClientLogged>("ClientLogged", static x => new() { ["number"] = Text(x.Number), ["position"] = Text(x.Position.Value) }),
        .. QueryStructures.All,
        Empty("Heartbeat", FrameType.Heartbeat), Empty("Ready", FrameType.Ready), Empty("CheckpointWanted", FrameType.CheckpointWanted),
        new("ImageChunk", new Structure(
            static (bytes, _) => new() { ["bytes"] = Hex(ImageChunk.Read(bytes)) }, static (bytes, _) => ImageChunk.Read(bytes).ToArray(),
            Ends.Anywhere)),
        new("Contract", new Structure(
            static (bytes, _) => new() { ["bytes"] = Hex(ContractFrame.Read(bytes)) },
            static (bytes, _) => ContractFrame.Read(bytes).ToArray(), Ends.Anywhere)),
        new("BuildMethods", new Structure(
            static (bytes, _) => new() { ["bytes"] = Hex(BuildMethodsFrame.Read(bytes)) },
            static (bytes, _) => BuildMethodsFrame.Read(bytes).ToArray(), Ends.Anywhere)),
        new("TaskResult", new Structure(
            static (bytes, context) =>
            {
                NondetResultRecord result = NondetResultRecord.Read(TaskResult.Read(bytes, MessageLimit(context)));
                return new() { ["task"] = Text(result.Task), ["failed"] = result.Failed, ["result"] = Hex(result.Result.Span) };
            },
            static (bytes, context) => TaskResultAgain(NondetResultRecord.Read(TaskResult.Read(bytes, MessageLimit(context)))),
            Ends.Anywhere)),
        new("Deliver", new Structure(static (bytes, _) => Deliver(bytes), static (bytes, _) => DeliverAgain(bytes), Ends.Anywhere)),
    ];

    private static KeyValuePair<string, Structure> Empty(string name, FrameType type) => new(name, new Structure((bytes, _) =>
    {
        FrameReader.ReadEmpty(type, bytes);
        return [];
    }));

    private static byte[] TaskResultAgain(NondetResultRecord result)
    {
        var again = new ArrayBufferWriter<byte>();
        TaskResult.WriteHead(again, result.Task, result.Failed);
        again.Write(result.Result.Span);
        return again.WrittenSpan.ToArray();
    }

    private static JsonObject Deliver(ReadOnlySpan<byte> bytes)
    {
        DeliverHeader header = DeliverHeader.Read(bytes);
        return new()
        {
            ["first"] = Text(header.First.Value), ["timeUs"] = Text(header.TimeUs), ["mark"] = Text(header.Mark.Value),
            ["records"] = RecordStructures.Walk(bytes[DeliverHeader.Bytes..], header.First),
        };
    }

    private static byte[] DeliverAgain(ReadOnlySpan<byte> bytes)
    {
        Deliver(bytes);
        byte[] again = bytes.ToArray();
        again.AsSpan(0, DeliverHeader.Bytes).Clear();
        DeliverHeader.Read(bytes).Write(again);
        return again;
    }
}
