using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Tests;

/// <summary>An operator gives a peer up: whoever comes next under its name is another, and the old one never comes back.</summary>
public sealed class ForgetPeerTests : IDisposable
{
    private const uint Seed = 42;
    private static readonly Guid old = Guid.NewGuid(), young = Guid.NewGuid();
    private static readonly InstanceId name = new("x");
    private readonly Side side = new("b");

    private static Hello HelloOf(Guid uuid, ulong epoch, ulong nonce, Guid knowsUsAs = default) =>
        new(1, 1, uuid, name, "r0", new Epoch(epoch), nonce, "b", knowsUsAs, default, 0, 0, 0, default, 0, 1 << 20);

    /// <summary>What the other side is told; null: it was accepted and is open.</summary>
    private string? Say(Hello hello)
    {
        PeerLink link = side.Accept(Seed);
        link.Feed(Made.Frame(hello, Seed, checkPayload: true), true, out _);
        string? refused = null;
        for (int round = 0; round < 3; round++, side.Log.Commit()) // the peer's record has to be durable first
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
        ForgetPeerCommand.Begin(request, isPrimary, side.Ledger, Append, static _ => 12);

    private bool Append(ForgetRecord record) => side.Log.Appender.TryAppend(RecordKind.Forget, RecordKinds.Encode(record), out _);

    [Fact]
    public void ForgetPeer_WhoseLogIsGone_TakesTheNewOneAsANewOrigin()
    {
        Assert.Null(Say(HelloOf(old, 4, 1)));
        string refused = Say(HelloOf(young, 1, 2))!;
        Assert.Contains("ambrosia forget-peer DIR x", refused);
        Assert.False(side.Table.ShouldDial(name, side.Time.GetUtcNow()));

        IAdminReply reply = Ask(new JsonObject { ["peer"] = "x" });
        Assert.Null(reply.Next(out bool isLast));
        Assert.False(isLast);
        Assert.Contains("being forgotten", Say(HelloOf(young, 1, 3))); // until the app has come to the record
        Assert.Contains("being forgotten", Say(HelloOf(old, 4, 4)));
        side.Ledger.Forget(name);
        side.Table.Resume(name);
        JsonObject answer = reply.Next(out isLast)!;
        Assert.True(isLast);
        Assert.Equal((old.ToString(), 12ul), ((string?)answer["forgotten"], (ulong)answer["calls"]!));

        Assert.True(side.Table.ShouldDial(name, side.Time.GetUtcNow()));
        Assert.Null(Say(HelloOf(young, 1, 5)));
        Assert.Contains("was forgotten here", Say(HelloOf(old, 9, 6)));
        Assert.Equal((2u, young), (side.Ledger.Find(name)!.Id, side.Ledger.Find(name)!.Uuid));
        Assert.Equal([1u, 2u],
            side.Log.Records().Where(static r => r.Kind == RecordKind.Peer).Select(static r => PeerRecord.Read(r.Body).Origin));
    }

    [Fact]
    public void ForgetPeer_ThatIsConnected_IsRefused()
    {
        PeerLink link = side.Accept(Seed);
        link.Feed(Made.Frame(HelloOf(old, 4, 1), Seed, checkPayload: true), true, out _);
        Assert.Contains("is connected", (string?)Ask(new JsonObject { ["peer"] = "x" }).Next(out _)!["error"]);
        link.Ended("over");
        // its record was never logged
        Assert.Contains("was never taken", (string?)Ask(new JsonObject { ["peer"] = "x" }).Next(out _)!["error"]);
        Assert.Null(Say(HelloOf(old, 4, 2)));
        Assert.Null(Ask(new JsonObject { ["peer"] = "x" }).Next(out _));
        Assert.Null(Ask(new JsonObject { ["peer"] = "x" }).Next(out _)); // asked for twice: one record
        side.Log.Commit();
        Assert.Single(side.Log.Records(), static r => r.Kind == RecordKind.Forget);
    }

    [Theory]
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
        Assert.Null(Say(HelloOf(old, 4, 1)));
        bool hasRoom = false;
        IAdminReply reply = ForgetPeerCommand.Begin(new JsonObject { ["peer"] = "x" }, true, side.Ledger,
            record => hasRoom && Append(record), static _ => 0);
        Assert.Null(reply.Next(out _));
        Assert.Null(Say(HelloOf(old, 4, 2))); // nothing has happened yet
        hasRoom = true;
        Assert.Null(reply.Next(out _));
        Assert.Contains("being forgotten", Say(HelloOf(old, 4, 3)));
    }

    public void Dispose() => side.Dispose();
}
