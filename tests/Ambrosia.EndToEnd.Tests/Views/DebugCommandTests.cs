using System.Diagnostics;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>What a user gets of <c>ambrosia state --at</c>, and what is said of what cannot be.</summary>
public sealed class DebugCommandTests : IDisposable
{
    private readonly Cluster _cluster = new();
    private readonly Replica _ledger;

    public DebugCommandTests()
    {
        (Replica source, _ledger) = _cluster.Pair(300, burst: 50);
        _ledger.Start();
        source.Start();
        Cluster.AssertEqual(source, 300);
        _ledger.KillCoordinator(); // in the middle of its life: no checkpoint, and an epoch without an end
    }

    public void Dispose()
    {
        _cluster.Passed();
        _cluster.Dispose();
    }

    private string App => $"{Executables.App} {_ledger.Role}";

    [Fact]
    public void State_AtAMessage_IsTheOneBeforeIt()
    {
        Tool before = Tool.Run("state", _ledger.LogDirectory, "--at", "method:Put#100", "--app", App, "--json");
        Assert.True(before.Code == 0, before.Error);
        Assert.Equal(99, before.Json.GetProperty("state").GetProperty("_count").GetInt32());
        Assert.Contains("stopped before", before.Error, StringComparison.Ordinal);

        Tool end = Tool.Run("state", _ledger.LogDirectory, "--at", "end", "--app", App, "--path", "_count", "--json");
        Assert.Equal(300, end.Json.GetProperty("value").GetInt32());
    }

    /// <summary>One app goes to both places, also back to the earlier one.</summary>
    [Fact]
    public void Diff_OfTwoPlaces_SaysWhatBecameOther()
    {
        Tool tool = Tool.Run("state", _ledger.LogDirectory, "--at", "end", "--diff", "method:Put#100", "--app", App, "--path", "_count");
        Assert.True(tool.Code == 1, tool.Error);
        Assert.Equal("_count: 300 → 99", tool.Output.Trim());
    }

    [Theory]
    [InlineData("method:Nothing", "Nothing")]
    [InlineData("call:999999", "999999")]
    [InlineData("4611686018427387900", "4611686018427387900")]
    [InlineData("yesterday", "yesterday")]
    [InlineData("ckpt:1", "checkpoint")]
    [InlineData("crash", "crash")]
    public void State_AtAPlaceThatIsNotThere_EndsWithTwoAndSaysWhatIs(string place, string named)
    {
        Tool tool = Tool.Run("state", _ledger.LogDirectory, "--at", place, "--app", App);
        Assert.Equal(2, tool.Code);
        Assert.Contains(named, tool.Error, StringComparison.Ordinal);
    }

    /// <summary>It would execute the log from its beginning, and fail at each message.</summary>
    [Fact]
    public void State_ByAnotherImmortalOfTheBuild_EndsWithTwo()
    {
        Tool tool = Tool.Run("state", _ledger.LogDirectory, "--at", "end", "--app", $"{Executables.App} bank");
        Assert.Equal(2, tool.Code);
        Assert.Contains("the app runs another immortal of it than 'ledger'", tool.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void State_ByAnAppThatIsNone_EndsWithTwo()
    {
        Tool tool = Tool.Run("state", _ledger.LogDirectory, "--at", "end", "--app", "false");
        Assert.Equal(2, tool.Code);
        Assert.Contains("the app has ended with code 1", tool.Error, StringComparison.Ordinal);
    }

    /// <summary>The same in a line of a unit test, in one process: the object itself, before and behind a message, and back.</summary>
    [Fact]
    public void Immortal_OfThePast_IsTheObjectThatItWas()
    {
        using var process = Process.Start(
            Executables.StartOf(Executables.App, ["look", _ledger.LogDirectory, "method:Put#100"], _ledger.Settings, _cluster.Root))!;
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Assert.Contains("count 99, stopped before", output, StringComparison.Ordinal);
        Assert.Contains("behind it 100, 0 calls", output, StringComparison.Ordinal);
        Assert.Contains("again 99, view True, True", output, StringComparison.Ordinal);
        Assert.Contains("path 99", output, StringComparison.Ordinal);
        Assert.DoesNotContain("line ", output, StringComparison.Ordinal);
        Assert.Equal(0, process.ExitCode);
    }

    [Fact]
    public void State_WithoutAnApp_SaysHowToGiveIt()
    {
        Tool tool = Tool.Run("state", _ledger.LogDirectory, "--at", "end");
        Assert.Equal(2, tool.Code);
        Assert.Contains("--app", tool.Error, StringComparison.Ordinal);
    }
}
