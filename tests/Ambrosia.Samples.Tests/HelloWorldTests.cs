using System.Text.RegularExpressions;

namespace Ambrosia.Samples.Tests;

/// <summary>Runs the sample as a new user does, with few calls.</summary>
public sealed partial class HelloWorldTests
{
    [Fact]
    public void Run_WithEveryKindOfKill_AppliesEachCallOnce()
    {
        using var logs = new TemporaryDirectory();
        (int code, string last,
            string output) = ProgramRun.ToEnd("HelloWorld", "--calls", "30000", "--kills", "6", "--seed", "7", "--log", logs.Path);

        Assert.True(code == 0, output);
        Assert.Equal("ok: 30000 calls applied exactly once, in order, through 6 kills", last);
        Assert.Contains($"--log {logs.Path}", output);
        Processes.AwaitNoneOf(logs.Path);
    }

    [Fact]
    public void SecondRun_OnTheSameLogs_GoesOn()
    {
        using var logs = new TemporaryDirectory();
        (int first, _,
            string firstOutput) = ProgramRun.ToEnd("HelloWorld", "--calls", "5000", "--kills", "1", "--seed", "1", "--log", logs.Path);
        (int second, string last,
            string secondOutput) = ProgramRun.ToEnd("HelloWorld", "--calls", "7000", "--kills", "1", "--seed", "2", "--log", logs.Path);

        Assert.True(first == 0, firstOutput);
        Assert.True(second == 0, secondOutput);
        Assert.Equal("ok: 12000 calls applied exactly once, in order, through 1 kills", last);
    }

    [Fact]
    public void RunAfterOneThatWasStopped_OnTheSameLogs_MakesTheCallsOfBoth()
    {
        using var logs = new TemporaryDirectory();
        using (var stopped = new ProgramRun("HelloWorld", "--calls", "1000000", "--kills", "0", "--log", logs.Path))
        {
            // Not after so many seconds: a slow machine might not have taken the order for the calls by then, and would rightly make none.
            stopped.AwaitLine(CallsAreApplied());
            stopped.Terminate();
            Assert.True(stopped.AwaitEnd() == 1, stopped.Output);
        }
        Processes.AwaitNoneOf(logs.Path);
        (int code, string last, string output) = ProgramRun.ToEnd("HelloWorld", "--calls", "1000", "--kills", "0", "--log", logs.Path);

        Assert.True(code == 0, output);
        Assert.Equal("ok: 1001000 calls applied exactly once, in order, through 0 kills", last);
    }

    [Fact]
    public void Run_ThatExpectsACallNeverMade_Fails()
    {
        using var logs = new TemporaryDirectory();
        (int code, string last,
            string output) = ProgramRun.ToEnd("HelloWorld", "--calls", "2000", "--kills", "0", "--log", logs.Path, "--expect-lost-call");

        Assert.Equal(1, code);
        Assert.Contains("FAILED: 1 of 2001 calls were lost", output);
        Assert.StartsWith("FAILED: ", last);
    }

    [Fact]
    public void Run_BeyondItsLimit_FailsAndLeavesNothingRunning()
    {
        using var logs = new TemporaryDirectory();
        (int code, string last,
            _) = ProgramRun.ToEnd("HelloWorld", "--calls", "1000000000", "--kills", "2", "--seed", "3", "--limit", "2", "--log", logs.Path);

        Assert.Equal(1, code);
        Assert.Equal("FAILED: not at its end after 2 s; the same kills again with --seed 3 --calls 1000000000 --kills 2", last);
        Processes.AwaitNoneOf(logs.Path);
    }

    [Fact]
    public void Run_Terminated_LeavesNothingRunning()
    {
        using var logs = new TemporaryDirectory();
        using var run = new ProgramRun("HelloWorld", "--calls", "1000000000", "--kills", "0", "--log", logs.Path);
        run.AwaitLine("kills=0/0");
        run.Terminate();

        Assert.Equal(1, run.AwaitEnd());
        Assert.StartsWith("FAILED: stopped by the user", run.LastLine);
        Processes.AwaitNoneOf(logs.Path);
    }

    [Theory]
    [InlineData("--calls", "0")]
    [InlineData("--kills", "-1")]
    [InlineData("--seed", "99999999999")]
    [InlineData("--limit", "soon")]
    [InlineData("--nonsense", "1")]
    public void CommandLine_Wrong_EndsWith2AndMakesNothing(string option, string value)
    {
        using var logs = new TemporaryDirectory();
        (int code, _, _) = ProgramRun.ToEnd("HelloWorld", "--log", System.IO.Path.Combine(logs.Path, "new"), option, value);

        Assert.Equal(2, code);
        Assert.Empty(Directory.EnumerateFileSystemEntries(logs.Path));
    }

    [GeneratedRegex(" applied=[1-9]")]
    private static partial Regex CallsAreApplied();
}
