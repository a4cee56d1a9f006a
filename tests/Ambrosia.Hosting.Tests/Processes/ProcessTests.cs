using System.Net;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>A program with a host in real processes, which are killed, stopped and moved.</summary>
public sealed class ProcessTests
{
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
}
