using System.Text.Json;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

/// <summary>The command shows what stands at a path, and in what two states differ, without the app.</summary>
public sealed class StatePathTests : IDisposable
{
    private readonly StateLog _log = new();

    public StatePathTests()
    {
        _log.MakeCheckpoint(100, StateLog.Bank(("alice", 250), ("bob", 3)));
        _log.MakeCheckpoint(200, StateLog.Bank(("alice", 200), ("carol", 50)));
        _log.MakeCheckpoint(300, StateLog.Bank(("alice", 200), ("carol", 50)));
    }

    public void Dispose() => _log.Dispose();

    [Theory]
    [InlineData("_accounts[\"alice\"]", "200")]
    [InlineData("_accounts.carol", "50")]
    [InlineData("$session.NextCall", "2")]
    [InlineData("$state._accounts", "{\"alice\":200,\"carol\":50}")]
    public void State_AtAPath_IsShownAlone(string path, string value)
    {
        ToolRun run = ToolRun.Of("state", _log.Directory, "--path", path, "--json");
        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Equal(value, run.Json.GetProperty("value").GetRawText());
        Assert.Equal(300, run.Json.GetProperty("lsn").GetInt32());
    }

    [Theory]
    [InlineData("_accounts[\"alicia\"]", "_accounts has no '[\"alicia\"]'; near it there are [\"alice\"], [\"carol\"]")]
    [InlineData("acounts", "$state has no 'acounts'; near it there is _accounts")]
    [InlineData("_accounts.alice.x", "_accounts.alice is 200, which has nothing below it")]
    [InlineData("_accounts[", "'_accounts[' is no path: a number or a key is missing there; write fields by their names")]
    public void State_AtAPathThatIsNotThere_NamesTheNearest(string path, string expected)
    {
        ToolRun run = ToolRun.Of("state", _log.Directory, "--path", path);
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Equal("", run.Output);
        Assert.Contains(expected, run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Diff_OfTwoCheckpoints_SaysWhatBecameOfEach()
    {
        ToolRun run = ToolRun.Of("state", _log.Directory, "--checkpoint", "3", "--diff", "ckpt:2");
        Assert.Equal(ToolExit.Damage, run.Code);
        Assert.Equal(["_accounts[\"alice\"]: 250 → 200", "_accounts[\"bob\"]: removed, 3", "_accounts[\"carol\"]: added, 50"], run.Lines);
    }

    [Fact]
    public void Diff_AsJson_HasALineForEachAndOneForAll()
    {
        ToolRun run = ToolRun.Of("state", _log.Directory, "--at", "ckpt:3", "--diff", "ckpt:2", "--head", "1", "--json");
        Assert.Equal(
            [
                """{"path":"_accounts[\"alice\"]","kind":"changed","before":250,"after":200}""",
                $$"""{"from":"{{_log.NameOf(100)}}","to":"{{_log.NameOf(200)}}","differences":3,"shown":1}""",
            ],
            run.Lines);
    }

    [Fact]
    public void Diff_BeyondTheHead_IsCounted() =>
        Assert.Contains("and 2 more differences (--head N shows more)",
            ToolRun.Of("state", _log.Directory, "--at", "ckpt:3", "--diff", "ckpt:2", "--head", "1").Lines);

    [Fact]
    public void Diff_OfStatesThatAreAlike_EndsWithZero()
    {
        ToolRun run = ToolRun.Of("state", _log.Directory, "--diff", "ckpt:2");
        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Equal($"the states at {_log.NameOf(300)} and {_log.NameOf(200)} are alike", Assert.Single(run.Lines));
    }

    [Theory]
    [InlineData("_accounts[\"bob\"]", "_accounts[\"bob\"]: removed, 3")]
    [InlineData("_accounts[\"carol\"]", "_accounts[\"carol\"]: added, 50")]
    [InlineData("_accounts[\"alice\"]", "_accounts[\"alice\"]: 250 → 200")]
    [InlineData("$session.NextCall", "the states at")]
    public void Diff_AtAPath_IsAboutThatAlone(string path, string line) =>
        Assert.StartsWith(
            line, Assert.Single(ToolRun.Of("state", _log.Directory, "--checkpoint", "3", "--diff", "ckpt:2", "--path", path).Lines),
            StringComparison.Ordinal);

    [Fact]
    public void Diff_AtAPathThatIsInNeither_EndsWithTwo()
    {
        ToolRun run = ToolRun.Of("state", _log.Directory, "--checkpoint", "3", "--diff", "ckpt:2", "--path", "_accounts.dave", "--json");
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("has no 'dave'", JsonDocument.Parse(run.Error).RootElement.GetProperty("error").GetProperty("what").GetString(),
            StringComparison.Ordinal);
    }
}
