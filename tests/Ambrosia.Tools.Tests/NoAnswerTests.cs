using System.Diagnostics;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Replicas;
using CRA.Catalog;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.Tools.Tests;

/// <summary>Tests what the commands say of a coordinator that runs and gives no answer, which is not the same as none.</summary>
public sealed class NoAnswerTests : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly string _log;

    public NoAnswerTests()
    {
        _log = _temporary.Of("log");
        SampleLog.Make(_log);
    }

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Checkpoint_CoordinatorIsSilent_SaysThatItRuns() => AssertNoAnswer(static _ => null, "no answer came within");

    [Fact]
    public void Checkpoint_AnswerIsTooLong_SaysThatItRuns()
    {
        string line = new JsonObject { ["role"] = "primary", ["links"] = new string('x', 2 << 20) }.ToJsonString() + "\n";
        AssertNoAnswer(_ => line, "an answer is longer than");
    }

    [Fact]
    public void Checkpoint_AnswerIsNoJson_SaysThatItRuns() => AssertNoAnswer(static _ => "ready\n", "cannot be read");

    [Fact]
    public void Checkpoint_PrimaryBesideASilentStandby_IsAsked()
    {
        using var silent = new FakeCoordinator(_log, "r0", static _ => null);
        using var primary = new FakeCoordinator(_log, "r1", static request =>
            (string?)request["command"] == "status" ? "{\"role\":\"primary\"}\n" : "{\"error\":\"asked of the primary. Ask again.\"}\n");
        ToolRun run = ToolRun.Of("checkpoint", _log);
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("replica 'r1' refuses", run.Error);
    }

    [Fact]
    public void Checkpoint_NothingListens_SaysThatNoneRuns()
    {
        new FakeCoordinator(_log, "r0", static _ => null).Dispose();
        ToolRun run = ToolRun.Of("checkpoint", _log);
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("no replica of it runs here", run.Error);
    }

    [Fact]
    public void Stop_CoordinatorIsSilent_SaysThatItRuns()
    {
        using var coordinator = new FakeCoordinator(_log, "r0", static request => (string?)request["command"] == "status" ? null : "{}x\n");
        ToolRun run = ToolRun.Of("stop", _log);
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("replica 'r0' gives no answer", run.Error);
        Assert.DoesNotContain("no replica", run.Error + run.Output);
    }

    [Theory]
    [InlineData(0, "no answer came within")]
    [InlineData(2 << 20, "an answer is longer than")]
    public void Status_CoordinatorGivesNone_SaysThatItRuns(int bytes, string why)
    {
        string catalog = Catalog();
        using var coordinator = new FakeCoordinator(_log, "r0",
            _ => bytes == 0 ? null : new JsonObject { ["role"] = "primary", ["x"] = new string('x', bytes) }.ToJsonString() + "\n");
        ToolRun run = ToolRun.Of("status", "--catalog", catalog);
        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Contains("replica 'r0' runs here, but", run.Output);
        Assert.Contains(why, run.Output);
        Assert.DoesNotContain("no replica answers", run.Output);
    }

    [Fact]
    public void LivingProcess_ThatHasEnded_IsGone()
    {
        using var process = Process.Start(new ProcessStartInfo("sleep", "600"))!;
        LivingProcess living = LivingProcess.Of(process.Id)!;
        Assert.True(living.IsThere());
        Assert.False((living with { Started = "1" }).IsThere()); // a later process with its id
        process.Kill();
        process.WaitForExit();
        Assert.False(living.IsThere());
    }

    [Fact]
    public void Status_OfManyPeersThatAreAwayOrStopped_NamesTenOfEachAndCountsTheRest()
    {
        string catalog = Catalog();
        JsonArray links = [], outboxes = [];
        for (int i = 0; i < 40; i++)
        {
            string peer = $"away{i:D2}";
            links.Add(new JsonObject { ["peer"] = peer, ["state"] = i < 15 ? "stopped" : "waiting", ["lastEnd"] = "why" });
            outboxes.Add(new JsonObject { ["to"] = peer, ["calls"] = 1, ["trimmed"] = 0 });
        }
        var status = new JsonObject { ["role"] = "primary", ["links"] = links, ["moreLinks"] = 960, ["outboxes"] = outboxes };
        using var coordinator = new FakeCoordinator(_log, "r0", _ => status.ToJsonString() + "\n");
        string output = ToolRun.Of("status", "--catalog", catalog).Output;
        Assert.Contains("away09:stopped and 990 more", output);
        Assert.Contains("calls to 30 more instances wait", output);
        Assert.Contains("the link to away09 is stopped: why", output);
        Assert.DoesNotContain("the link to away10 is stopped", output);
        Assert.Contains("5 more links are stopped", output);
    }

    private string Catalog()
    {
        string directory = Directory.CreateDirectory(_temporary.Of("catalog")).FullName;
        ICatalog catalog = CatalogOpening.Open(
            CatalogPlace.Parse(directory), new PosixFileSystem(), static to => to.Clear(), NullLogger.Instance);
        catalog.Publish(new CatalogEntry(new InstanceId("counter"), Guid.NewGuid(), _log, new Epoch(1), []));
        return directory;
    }

    private void AssertNoAnswer(Func<JsonObject, string?> answer, string why)
    {
        using var coordinator = new FakeCoordinator(_log, "r0", answer);
        ToolRun run = ToolRun.Of("checkpoint", _log);
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("replica 'r0' runs here, but", run.Error);
        Assert.Contains(why, run.Error);
    }
}
