using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Requests that cannot be understood, and the two commands of every coordinator, against a whole one on a simulated disk.
/// </summary>
public sealed class AdminCommandsTests
{
    private readonly AdminCommands _commands = new();

    [Theory]
    [InlineData("", "not one JSON object")]
    [InlineData("{\"command\":\"status\"} {}", "not one JSON object")]
    [InlineData("{\"command\":\"status\",\"command\":\"status\"}", "not one JSON object")]
    [InlineData("[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]", "not one JSON object")]
    [InlineData("[]", "no string \"command\"")]
    [InlineData("null", "no string \"command\"")]
    [InlineData("{}", "no string \"command\"")]
    [InlineData("{\"command\":7}", "no string \"command\"")]
    [InlineData("{\"command\":\"stop\"}", "no command 'stop' here. Give one of: a, b.")]
    public void Begin_RequestThatIsNone_AnswersWhatIsWrong(string request, string said)
    {
        _commands.Set("b", static _ => throw new InvalidOperationException("not asked for"));
        _commands.Set("a", static _ => throw new InvalidOperationException("not asked for"));
        JsonObject? answer = _commands.Begin(Encoding.UTF8.GetBytes(request)).Next(out bool isLast);
        Assert.True(isLast);
        Assert.Contains(said, (string?)answer!["error"]);
    }

    [Fact]
    public void Begin_CommandWithMembers_GetsThem()
    {
        _commands.Set("echo", static request => new AdminAnswer(new JsonObject { ["said"] = request["what"]!.GetValue<string>() }));
        JsonObject? answer = _commands.Begin("{\"what\":\"x\",\"command\":\"echo\"}"u8).Next(out bool isLast);
        Assert.True(isLast);
        Assert.Equal("x", (string?)answer!["said"]);
    }

    [Fact]
    public void Status_OfARunningReplica_TellsWhatItIs()
    {
        (Node node, CountingApp app) = Running();
        JsonObject status = Ask(node, "status");
        Assert.Equal(("self", "r0", "primary", 1ul),
            ((string?)status["instance"], (string?)status["replica"], (string?)status["role"], (ulong)status["epoch"]!));
        JsonNode log = status["log"]!;
        Assert.Equal(node.Parts.Log.Durable.Value, (ulong)log["durable"]!);
        Assert.InRange((ulong)log["executed"]!, 1ul, (ulong)log["durable"]!);
        Assert.InRange((ulong)log["stated"]!, 0ul, (ulong)log["durable"]!);
        Assert.Equal("primary", (string?)status["app"]!["stage"]);
        JsonNode outbox = Assert.Single((JsonArray)status["outboxes"]!, static o => (string?)o!["to"] != "self")!;
        Assert.Equal(20ul, (ulong)outbox["calls"]!);
        Assert.InRange((long)outbox["keptBytes"]!, 20 * 2, 20 * 200);
        Assert.Empty((JsonArray)status["checkpoints"]!);
        app.Kill();
        Assert.Null(Ask(node, "status")["app"]);
    }

    [Fact]
    public void Status_OfThousandsOfPeersThatAreAway_IsShortAndCountsTheRest()
    {
        (Node node, _) = Running();
        for (int i = 0; i < 5_000; i++) node.Parts.Links.Table.Want(new InstanceId($"away{i:D5}", 0));
        JsonObject status = Ask(node, "status");
        var links = (JsonArray)status["links"]!;
        Assert.InRange(links.Count, 1, 500);
        Assert.InRange(links.Count + (int)status["moreLinks"]!, 5_000, 5_010);
        Assert.Equal(0, (int)status["moreOutboxes"]!);
        Assert.InRange(status.ToJsonString().Length, 1, 256 << 10);
    }

    [Fact]
    public void Checkpoint_WithoutAnApp_IsRefused()
    {
        (Node node, CountingApp app) = Running();
        app.Kill();
        Assert.Contains("no app runs here", (string?)Ask(node, "checkpoint")["error"]);
        Assert.False(node.Parts.Checkpoints.IsDue);
    }

    [Fact]
    public void Checkpoint_Asked_AnswersWhenItIsPublished()
    {
        (Node node, CountingApp app) = Running();
        Lsn before = node.Parts.Log.Durable;
        IAdminReply reply = Begin(node, "checkpoint");
        JsonObject? answer;
        bool isLast;
        int silent = 0;
        while ((answer = reply.Next(out isLast)) is null)
        {
            silent++;
            Assert.False(isLast);
            Drive(node, app);
        }
        Assert.True(isLast && silent > 0);
        Assert.StartsWith("ckpt.", (string?)answer["published"]);
        Assert.True((ulong)answer["lsn"]! >= before.Value);
        Assert.Equal((string?)answer["published"], (string?)((JsonArray)Ask(node, "status")["checkpoints"]!)[0]!["name"]);
    }

    [Fact]
    public void Checkpoint_AppGoesAway_AnswersWhy()
    {
        (Node node, CountingApp app) = Running();
        IAdminReply reply = Begin(node, "checkpoint");
        node.Parts.Tick(isQuiet: true);
        Assert.Null(reply.Next(out _));
        app.Kill();
        Assert.Contains("session ended", (string?)reply.Next(out bool isLast)!["error"]);
        Assert.True(isLast);
    }

    private static (Node, CountingApp) Running()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        var app = new CountingApp(node, new SimulatedRandom(5), 20);
        while (app is not { Executed: 20, IsQuiet: true } || node.Parts.Log.Durable < node.Parts.Log.Tail)
        {
            app.Step();
            node.Commit();
        }
        return (node, app);
    }

    private static void Drive(Node node, CountingApp app)
    {
        node.Parts.Tick(isQuiet: true);
        node.Commit();
        app.Step();
        node.Parts.Checkpoints.Step();
    }

    private IAdminReply Begin(Node node, string command)
    {
        node.Parts.AddCommands(_commands);
        return _commands.Begin(Encoding.UTF8.GetBytes($$"""{"command":"{{command}}"}"""));
    }

    private JsonObject Ask(Node node, string command) => Begin(node, command).Next(out _)!;
}
