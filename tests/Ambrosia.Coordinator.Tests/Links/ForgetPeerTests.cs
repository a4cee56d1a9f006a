using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Tests;

/// <summary>An operator gives a peer up: whoever comes next under its name is another, and the old one never comes back.</summary>
public sealed class ForgetPeerTests : IDisposable
{
    private const uint Seed = 42;
    private static readonly Guid s_old = Guid.NewGuid(), s_young = Guid.NewGuid();
    private static readonly InstanceId s_name = new("x");
    private readonly Side _side = new("b");

    private static Hello HelloOf(Guid uuid, ulong epoch, ulong nonce, Guid knowsUsAs = default) =>
        new(1, 1, uuid, s_name, "r0", new Epoch(epoch), nonce, "b", knowsUsAs, default, 0, 0, 0, default, 0, 1 << 20);

    /// <summary>What the other side is told; null: it was accepted and is open.</summary>
    private string? Greet(Hello hello)
    {
        PeerLink link = _side.Accept(Seed);
        link.Feed(Made.Frame(hello, Seed, checkPayload: true), true, out _);
        string? refused = null;
        for (int round = 0; round < 3; round++, _side.Log.Commit()) // the peer's record has to be durable first
        {
            if (!link.TryTake(out ReadOnlyMemory<byte> bytes)) continue;
            foreach ((FrameType type, byte[] payload) in Made.FramesOf(bytes.Span, Seed, checkPayload: true))
                if (type == FrameType.Goodbye) refused = Goodbye.Read(payload).Why;
            link.Taken(bytes.Length);
        }
        if (refused is null) link.Feed(Made.Frame(FrameType.Ready, [], Seed, true), true, out _);
        Assert.Equal(refused is null, link.IsOpen);
        link.Ended("over");
        return refused;
    }

    private IAdminReply Ask(JsonObject request, bool isPrimary = true) =>
        ForgetPeerCommand.Begin(request, isPrimary, Steps(Append));

    private ForgetSteps Steps(Func<ForgetRecord, bool> append, Action? commit = null) => new(
        Guid.NewGuid(), _side.Dedup, _side.Bench.Set, append, _side.Log.Appender.TryAppend, static _ => 12, commit ?? (static () => { }));

    private bool Append(ForgetRecord record) => _side.Log.Appender.TryAppend(record, out _);

    [Fact]
    public void ForgetPeer_WhoseLogIsGone_TakesTheNewOneAsANewOrigin()
    {
        Assert.Null(Greet(HelloOf(s_old, 4, 1)));
        string refused = Greet(HelloOf(s_young, 1, 2))!;
        Assert.Contains("ambrosia forget-peer DIR x", refused);
        Assert.False(_side.Table.ShouldDial(s_name, _side.Time.Elapsed));

        IAdminReply reply = Ask(new JsonObject { ["peer"] = "x" });
        Assert.Null(reply.Next(out bool isLast));
        Assert.False(isLast);
        Assert.Contains("being forgotten", Greet(HelloOf(s_young, 1, 3))); // until the app has come to the record
        Assert.Contains("being forgotten", Greet(HelloOf(s_old, 4, 4)));
        _side.Dedup.Forget(s_name);
        _side.Table.Resume(s_name);
        JsonObject answer = reply.Next(out isLast)!;
        Assert.True(isLast);
        Assert.Equal((s_old.ToString(), 12ul), ((string?)answer["forgotten"], (ulong)answer["calls"]!));

        Assert.True(_side.Table.ShouldDial(s_name, _side.Time.Elapsed));
        Assert.Null(Greet(HelloOf(s_young, 1, 5)));
        Assert.Contains("was forgotten here", Greet(HelloOf(s_old, 9, 6)));
        Assert.Equal((2u, s_young), (_side.Dedup.Find(s_name)!.Id, _side.Dedup.Find(s_name)!.Uuid));
        Assert.Equal([1u, 2u],
            _side.Log.Records().Where(static r => r.Kind == RecordKind.Peer).Select(static r => PeerRecord.Read(r.Body).Origin));
    }

    [Fact]
    public void ForgetPeer_ThatIsConnected_IsRefused()
    {
        PeerLink link = _side.Accept(Seed);
        link.Feed(Made.Frame(HelloOf(s_old, 4, 1), Seed, checkPayload: true), true, out _);
        Assert.Contains("is connected", (string?)Ask(new JsonObject { ["peer"] = "x" }).Next(out _)!["error"]);
        link.Ended("over");
        // its record was never logged
        Assert.Contains("was never taken", (string?)Ask(new JsonObject { ["peer"] = "x" }).Next(out _)!["error"]);
        Assert.Null(Greet(HelloOf(s_old, 4, 2)));
        Assert.Null(Ask(new JsonObject { ["peer"] = "x" }).Next(out _));
        Assert.Null(Ask(new JsonObject { ["peer"] = "x" }).Next(out _)); // asked for twice: one record
        _side.Log.Commit();
        Assert.Single(_side.Log.Records(), static r => r.Kind == RecordKind.Forget);
    }

    /// <summary>Of a name that was called and never met the log gets a peer first, so that whoever comes later is another.</summary>
    [Fact]
    public void ForgetPeer_ThatWasCalledAndNeverCame_IsLoggedAndForgotten()
    {
        InstanceId unmet = OutboxBench.Peer;
        Assert.Contains("knows no peer", (string?)Ask(new JsonObject { ["peer"] = unmet.Name }).Next(out _)!["error"]);
        _side.Bench.Append(Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 10)]));
        Assert.Null(Greet(HelloOf(s_old, 4, 1)));

        IAdminReply reply = Ask(new JsonObject { ["peer"] = unmet.Name });
        Assert.Null(reply.Next(out _));
        Assert.Null(Ask(new JsonObject { ["peer"] = unmet.Name }).Next(out _)); // asked for twice
        _side.Log.Commit();
        _side.Dedup.Forget(unmet);
        Assert.NotNull(reply.Next(out bool isLast));
        Assert.True(isLast);

        PeerRecord[] peers =
            [.. _side.Log.Records().Where(static r => r.Kind == RecordKind.Peer).Select(static r => PeerRecord.Read(r.Body))];
        Assert.Equal([(1u, s_name, 4ul), (2u, unmet, 1ul)], peers.Select(static peer => (peer.Origin, peer.Peer, peer.Epoch.Value)));
        ForgetRecord forgotten = ForgetRecord.Read(_side.Log.Records().Single(static r => r.Kind == RecordKind.Forget).Body);
        Assert.Equal(new ForgetRecord(2, peers[1].Uuid), forgotten);
        Assert.True(_side.Dedup.TryAdmit(unmet, s_young, new Epoch(1), out InboundChannel? young, out _));
        Assert.Equal(3u, young.Id);
    }

    [Fact]
    public void ForgetPeer_ThatNeverCameWhileTheLogHasNoRoom_LeavesItsNameFree()
    {
        _side.Bench.Append(Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 10)]));
        ForgetSteps steps = Steps(Append) with { TryAppendPeer = static (PeerRecord _, out Lsn end) => { end = default; return false; } };
        Assert.Null(ForgetPeerCommand.Begin(new JsonObject { ["peer"] = OutboxBench.Peer.Name }, true, steps).Next(out bool isLast));
        Assert.False(isLast);
        Assert.Null(_side.Dedup.Find(OutboxBench.Peer));
    }

    [Fact]
    public void Pattern_OfNames_ListsThoseThatAreNotConnected()
    {
        Assert.Null(Greet(HelloOf(s_old, 4, 1)));
        _side.Bench.Append(Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 10)]));
        Assert.Equal("""{"peers":[{"peer":"peer","calls":1},{"peer":"x","calls":0}],"more":0}""", Listed("*"));
        Assert.Equal("""{"peers":[{"peer":"peer","calls":1}],"more":0}""", Listed("p*r"));
        Assert.Equal("""{"peers":[{"peer":"x","calls":0}],"more":0}""", Listed("?"));
        Assert.Equal("""{"peers":[],"more":0}""", Listed("X"));
        byte[] call = Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 10)]);
        for (int i = 0; i < ForgetPeerCommand.ListedMax; i++)
            _side.Bench.Append(call, _side.Bench.Set.GetOrAdd(new InstanceId($"many-{i}")));
        Assert.EndsWith("\"more\":2}", Listed("*"), StringComparison.Ordinal);

        string Listed(string pattern) => Ask(new JsonObject { ["pattern"] = pattern }).Next(out _)!.ToJsonString();
    }

    [Theory]
    [InlineData("""{"command":"forget-peer","pattern":""}""", true, "names no peer")]
    [InlineData("""{"command":"forget-peer","pattern":"*","peer":"x"}""", true, "names no peer")]
    [InlineData("""{"command":"forget-peer","pattern":"*"}""", false, "not primary")]
    [InlineData("""{"command":"forget-peer"}""", true, "names no peer")]
    [InlineData("""{"command":"forget-peer","peer":7}""", true, "names no peer")]
    [InlineData("""{"command":"forget-peer","peer":"a/b"}""", true, "names no peer")]
    [InlineData("""{"command":"forget-peer","peer":"nobody"}""", true, "knows no peer 'nobody'")]
    [InlineData("""{"command":"forget-peer","peer":"b"}""", true, "knows no peer 'b'")]
    [InlineData("""{"command":"forget-peer","peer":"x"}""", false, "not primary")]
    public void ForgetPeer_RequestThatCannotBe_SaysWhy(string request, bool isPrimary, string said) =>
        Assert.Contains(said, (string?)Ask((JsonObject)JsonNode.Parse(request)!, isPrimary).Next(out _)!["error"]);

    [Fact]
    public void ForgetPeer_NoRoomInTheLog_TriesAgainAndTakesPeersMeanwhile()
    {
        Assert.Null(Greet(HelloOf(s_old, 4, 1)));
        bool hasRoom = false;
        IAdminReply reply = ForgetPeerCommand.Begin(new JsonObject { ["peer"] = "x" }, true, Steps(record => hasRoom && Append(record)));
        Assert.Null(reply.Next(out _));
        Assert.Null(Greet(HelloOf(s_old, 4, 2))); // nothing has happened yet
        hasRoom = true;
        Assert.Null(reply.Next(out _));
        Assert.Contains("being forgotten", Greet(HelloOf(s_old, 4, 3)));
    }

    /// <summary>A commit waits for the writers that are inside a page, and these wait for the table's lock.</summary>
    [Fact]
    public void ForgetPeer_WhileAWriterIsInsideAPage_IsCommittedWithoutTheTablesLock()
    {
        var limit = TimeSpan.FromSeconds(20);
        Assert.Null(Greet(HelloOf(s_old, 4, 1)));
        InboundChannel sender = _side.Dedup.Admitted(new InstanceId("y"), Guid.NewGuid(), new Epoch(1));
        using var inside = new ManualResetEventSlim();
        using var tableIsHeld = new ManualResetEventSlim();
        byte[] run = Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 100)], peer: sender.Id);
        RunHeader header = RunView.Read(run).Header;
        var writer = new Thread(() => _side.Log.Appender.TryAppendRun(RecordKind.Run, header, run.AsSpan(RunHeader.Bytes), end =>
        {
            inside.Set();
            tableIsHeld.Wait(limit);
            _side.Dedup.Appended(sender, header, end);
        })) { IsBackground = true };
        writer.Start();
        Assert.True(inside.Wait(limit), "the writer is inside a page");
        _side.Committing = _side.Log.Commit; // as the pump does, for whatever asks for it
        IAdminReply reply = ForgetPeerCommand.Begin(new JsonObject { ["peer"] = "x" }, true, Steps(record =>
        {
            tableIsHeld.Set();
            return _side.Links.Admission.TryAppendForget(record);
        }, _side.Log.Commit));
        var operating = new Thread(() => reply.Next(out _)) { IsBackground = true };
        operating.Start();
        Assert.True(operating.Join(limit), "the peer is given up");
        Assert.True(writer.Join(limit), "the writer leaves the page");
        _side.Log.Commit();
        Assert.Single(_side.Log.Records(), static r => r.Kind == RecordKind.Forget);
    }

    public void Dispose() => _side.Dispose();
}
