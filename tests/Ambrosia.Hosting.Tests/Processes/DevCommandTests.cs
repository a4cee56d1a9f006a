namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>The command <c>ambrosia dev</c> with the program of these tests.</summary>
public sealed class DevCommandTests
{
    [Fact]
    public async Task Dev_ThroughAKillAndToItsEnd_RunsTheAppAndLeavesNothingBehind()
    {
        using var directory = new TemporaryDirectory();
        using var dev = new DevProcess(directory.Path);
        using var caller = new TillCaller(() => dev.Address);
        await dev.Until(() => dev.Address is not null);
        Assert.Equal("3", await caller.PostAsync("/pay/k1?cents=3"));
        Uri first = dev.Address!;
        dev.Press('k');
        await dev.Until(() => dev.Address is { } address && address != first);
        Assert.Contains("till was killed", dev.Output, StringComparison.Ordinal);
        Assert.Equal("3", await caller.PostAsync("/pay/k1?cents=3"));
        Assert.Equal("5", await caller.PostAsync("/pay/k2?cents=2"));
        Assert.Matches(@"till\s+runs\s+\d+\s+2\s+http://", dev.Output);
        dev.Press('q');
        Assert.True(dev.AwaitEnd() == 0, dev.Output);
        Assert.EndsWith("all that was started has ended\n", dev.Output, StringComparison.Ordinal);
        Assert.Empty(ProcessesOf(directory.Path));
    }

    /// <summary>What somebody else has started goes on, even where it is the same program.</summary>
    [Fact]
    public async Task Dev_ThatIsInterrupted_EndsWhatItStartedAndNothingElse()
    {
        using TemporaryDirectory directory = new(), elsewhere = new();
        using TillProcess other = TillProcess.Embedded(elsewhere.Path);
        using var otherCaller = new TillCaller(() => other.Address);
        Assert.Equal("1", await otherCaller.PostAsync("/pay/k1?cents=1"));
        using var dev = new DevProcess(directory.Path);
        await dev.Until(() => dev.Address is not null);
        Assert.NotEmpty(ProcessesOf(directory.Path));
        dev.Interrupt();
        Assert.True(dev.AwaitEnd() == 0, dev.Output);
        Assert.EndsWith("all that was started has ended\n", dev.Output, StringComparison.Ordinal);
        Assert.Empty(ProcessesOf(directory.Path));
        Assert.Equal("2", await otherCaller.PostAsync("/pay/k2?cents=1"));
    }

    /// <summary>It would diverge again with each start, so it is started once, and the developer is told what there is to do.</summary>
    [Fact]
    public async Task Dev_OfAnAppThatDiverges_WaitsAndSaysWhatToDo()
    {
        using var directory = new TemporaryDirectory();
        using (TillProcess before = TillProcess.Embedded(Path.Combine(directory.Path, "log")))
        {
            using var paying = new TillCaller(() => before.Address);
            for (int key = 0; key < ExitCodeTests.PaidForADigest; key++) await paying.PostAsync($"/pay/k{key}?cents=1");
            before.Kill();
        }
        using var dev = new DevProcess(directory.Path, null, ("TILL_SKEW", "1"));
        await dev.Until(() => dev.Output.Contains("has diverged; 'r' builds it again", StringComparison.Ordinal));
        Assert.Contains("put the code back that ran before", dev.Output, StringComparison.Ordinal);
        Assert.Matches(@"till\s+has diverged; 'r' builds it again\s+1\s", dev.Output);
        dev.Press('q');
        Assert.True(dev.AwaitEnd() == 0, dev.Output);
    }

    [Fact]
    public void Dev_OfNothing_SaysWhatToGive()
    {
        using var directory = new TemporaryDirectory();
        using var dev = new DevProcess(directory.Path, "shop=nowhere");
        Assert.Equal(2, dev.AwaitEnd());
        Assert.Contains("nowhere'; give the folder or file of a project, or a program", dev.Output, StringComparison.Ordinal);
    }

    /// <summary>The processes that have a directory in their environment, as what the command starts has.</summary>
    private static List<string> ProcessesOf(string directory) => [.. Directory.EnumerateDirectories("/proc")
        .Where(path => int.TryParse(Path.GetFileName(path), out _) && EnvironmentOf(path).Contains(directory, StringComparison.Ordinal))];

    private static string EnvironmentOf(string process)
    {
        try
        {
            return File.ReadAllText(Path.Combine(process, "environ"));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return ""; // it has just ended, or is another user's
        }
    }
}
