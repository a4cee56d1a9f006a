using System.Net;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>A program with a host in real processes, which are killed, stopped and moved.</summary>
public sealed class ProcessTests
{
    /// <summary>Callers with keys never notice more than that they have to repeat a call.</summary>
    [Fact]
    public async Task Host_KilledAgainAndAgain_DoesEachThingOnce()
    {
        using var logs = new TemporaryDirectory();
        TillProcess process = TillProcess.Embedded(logs.Path);
        using var caller = new TillCaller(() => process.Address);
        var answers = new List<string>();
        int rounds = TestScale.Rounds(100), calls = 0;
        try
        {
            for (int round = 0; round < rounds; round++)
            {
                Task<string> paying = caller.PostAsync($"/pay/k{calls++}?cents=1"), recording = caller.PostAsync($"/record/r{round}?cents={round}");
                answers.Add(await paying); // now or behind the kill: nobody knows whether the last ones were executed
                Task<string> last = caller.PostAsync($"/pay/k{calls++}?cents=1");
                process.Kill();
                process.Dispose();
                process = TillProcess.Embedded(logs.Path);
                answers.Add(await last);
                Assert.Equal($"{round} written", await recording);
            }
            Assert.Equal(Enumerable.Range(1, calls).Select(static sum => $"{sum}"), answers);
            Assert.Equal(calls, await caller.SumAsync());
            Assert.Equal(answers[0], await caller.PostAsync("/pay/k0?cents=1"));
            IEnumerable<string> written = Directory.GetFiles(Path.Combine(logs.Path, "ledger"));
            Assert.Equal(rounds, written.Count(static file => !file.EndsWith(".draft", StringComparison.Ordinal)));
        }
        finally
        {
            process.Dispose();
        }
    }

    /// <summary>The same program by itself, then under a coordinator on the same log, then by itself again.</summary>
    [Fact]
    public async Task Program_InItsTwoForms_IsTheSame()
    {
        using var logs = new TemporaryDirectory();
        int calls = 0;
        foreach (bool isBeside in new[] { false, true, false })
        {
            using TillProcess process = isBeside ? TillProcess.Beside(logs.Path) : TillProcess.Embedded(logs.Path);
            using var caller = new TillCaller(() => process.Address);
            Assert.Equal($"{++calls}", await caller.PostAsync($"/pay/k{calls}?cents=1"));
            Assert.Equal("5 written", await caller.PostAsync($"/record/r{calls}?cents=5"));
            await process.UntilAsync("ready", HttpStatusCode.OK);
            await process.UntilAsync("live", HttpStatusCode.OK);
            process.Terminate();
            Assert.True(process.AwaitEnd() == 0, process.Output);
        }
    }

    [Fact]
    public async Task Stop_WithAStandby_IsATakeOverThatCallersSeeAsARetry()
    {
        using var logs = new TemporaryDirectory();
        using TillProcess first = TillProcess.Embedded(logs.Path);
        using var caller = new TillCaller(() => first.HasEnded ? null : first.Address);
        Assert.Equal("1", await caller.PostAsync("/pay/k1?cents=1"));
        using TillProcess standby = TillProcess.Embedded(logs.Path, ("Ambrosia__Replica", "r1"));
        await standby.UntilAsync("startup", HttpStatusCode.OK);
        await standby.UntilAsync("ready", HttpStatusCode.ServiceUnavailable);
        using var next = new TillCaller(() => standby.Address); // calls by way of the standby's web server, which finds the primary
        Assert.Equal("2", await next.PostAsync("/pay/k2?cents=1"));
        Task<string[]> going = Task.WhenAll(Enumerable.Range(3, 20).Select(key => next.PostAsync($"/pay/k{key}?cents=1")));
        first.Terminate();
        Assert.True(first.AwaitEnd() == 0, first.Output);
        await going;
        Assert.Equal(0, next.Repeated); // the client in the standby repeats by itself
        Assert.Equal(22, await next.SumAsync());
        await standby.UntilAsync("ready", HttpStatusCode.OK);
        Assert.Contains("replica r1 has caught up and goes on", first.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Promotion_OfAnother_EndsTheHostWith75()
    {
        using var logs = new TemporaryDirectory();
        using TillProcess first = TillProcess.Embedded(logs.Path);
        await first.UntilAsync("ready", HttpStatusCode.OK);
        using TillProcess standby = TillProcess.Embedded(logs.Path, ("Ambrosia__Replica", "r1"));
        await standby.UntilAsync("startup", HttpStatusCode.OK);
        JsonObject answer = AdminClient.Ask(new PosixFileSystem(), Path.Combine(logs.Path, "till"), "r1",
            new JsonObject { ["command"] = "promote" }, TimeSpan.FromSeconds(90)).Last();
        Assert.True(answer["primary"]?.GetValue<bool>(), answer.ToJsonString());
        Assert.True(first.AwaitEnd() == 75, first.Output);
        await standby.UntilAsync("ready", HttpStatusCode.OK);
    }

    [Fact]
    public async Task Log_ThatIsDamaged_EndsTheHostWith65()
    {
        using var logs = new TemporaryDirectory();
        using (TillProcess process = TillProcess.Embedded(logs.Path))
        {
            await process.UntilAsync("ready", HttpStatusCode.OK);
            process.Kill();
        }
        string segment = Directory.GetFiles(Path.Combine(logs.Path, "till")).Order()
            .First(static file => new FileInfo(file).Length > 1 << 20);
        using (FileStream file = File.OpenWrite(segment)) file.Write(new byte[4096]);
        using TillProcess damaged = TillProcess.Embedded(logs.Path);
        Assert.True(damaged.AwaitEnd() == 65, damaged.Output);
        Assert.Contains("till: exit 65: ", damaged.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Option_ThatIsWrong_EndsTheHostWith2BeforeAnythingIsMade()
    {
        using var logs = new TemporaryDirectory();
        string directory = Path.Combine(logs.Path, "log");
        using TillProcess process = TillProcess.Embedded(directory, ("Ambrosia__CheckpointEvery", "64MB"), ("Ambrosia__Chekpoint", "x"));
        Assert.Equal(2, process.AwaitEnd());
        Assert.Contains("'Ambrosia:Chekpoint' is no option", process.Output, StringComparison.Ordinal);
        Assert.DoesNotContain(" at Microsoft.", process.Output, StringComparison.Ordinal);
        Assert.False(Directory.Exists(directory));
    }

    [Fact]
    public void Log_ThatCannotBeMade_EndsTheHostWith2()
    {
        using var logs = new TemporaryDirectory();
        string file = Path.Combine(logs.Path, "file");
        File.WriteAllText(file, "");
        using TillProcess process = TillProcess.Embedded(file);
        Assert.True(process.AwaitEnd() == 2, process.Output);
        Assert.Contains(file, process.Output, StringComparison.Ordinal);
    }
}
