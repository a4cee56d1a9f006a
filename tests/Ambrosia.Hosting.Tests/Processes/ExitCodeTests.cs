using System.Net;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>An immortal that has to end ends its host at once, with the code that says why.</summary>
public sealed class ExitCodeTests
{
    /// <summary>So many calls, each in a page of its own, pass the first MiB of the log, where its first digest stands.</summary>
    internal const int PaidForADigest = 400;

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

    /// <summary>The same build does something else with the same log: its handlers read what they must not.</summary>
    [Fact]
    public async Task Immortal_ThatDiverges_EndsTheHostWith70()
    {
        using var logs = new TemporaryDirectory();
        using (TillProcess process = TillProcess.Embedded(logs.Path))
        {
            using var caller = new TillCaller(() => process.Address);
            for (int key = 0; key < PaidForADigest; key++) await caller.PostAsync($"/pay/k{key}?cents=1");
            process.Kill();
        }
        using TillProcess skewed = TillProcess.Embedded(logs.Path, ("TILL_SKEW", "1"));
        Assert.True(skewed.AwaitEnd() == 70, skewed.Output);
        Assert.Contains("till: exit 70: ", skewed.Output, StringComparison.Ordinal);
        using TillProcess straight = TillProcess.Embedded(logs.Path);
        using var again = new TillCaller(() => straight.Address);
        Assert.Equal($"{PaidForADigest + 1}", await again.PostAsync("/pay/again?cents=1"));
    }

    /// <summary>No file may become as long as the log's have to be.</summary>
    [Fact]
    public async Task Log_ThatCannotBeWritten_EndsTheHostWith74()
    {
        using var logs = new TemporaryDirectory();
        using (TillProcess process = TillProcess.Limited(logs.Path, fileBytesMax: 8 << 20))
        {
            Assert.True(process.AwaitEnd() == 74, process.Output);
            Assert.Contains("till: exit 74: ", process.Output, StringComparison.Ordinal);
        }
        using TillProcess whole = TillProcess.Embedded(logs.Path);
        await whole.UntilAsync("ready", HttpStatusCode.OK);
    }

    [Fact]
    public async Task Immortal_OfAnotherVersionThanTheLog_EndsTheHostWith76()
    {
        using var logs = new TemporaryDirectory();
        using (TillProcess process = TillProcess.Embedded(logs.Path))
        {
            await process.UntilAsync("ready", HttpStatusCode.OK);
            process.Kill();
        }
        using TillProcess next = TillProcess.Embedded(logs.Path, ("TILL_VERSION", "2"));
        Assert.True(next.AwaitEnd() == 76, next.Output);
        Assert.Contains("till: exit 76: ", next.Output, StringComparison.Ordinal);
    }

    /// <summary>The app's side alone, under a coordinator that may not use it: it ends with 2, and so does its coordinator.</summary>
    [Fact]
    public void App_WithATokenThatIsNone_EndsWith2()
    {
        using var logs = new TemporaryDirectory();
        string token = Path.Combine(logs.Path, "token");
        File.WriteAllBytes(token, new byte[31]);
        using TillProcess process = TillProcess.Embedded(
            logs.Path, ("AMBROSIA_APP", "unix:/nowhere"), ("AMBROSIA_INSTANCE", "till"), ("AMBROSIA_TOKEN", token));
        Assert.True(process.AwaitEnd() == 2, process.Output);
    }
}
