using System.Text.Json;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

public sealed class CommandLineTests
{
    [Theory]
    [InlineData]
    [InlineData("nonsense")]
    [InlineData("log")]
    [InlineData("log", "DIR", "--nonsense")]
    public void CommandLine_Wrong_EndsWith2AndSaysHow(params string[] args)
    {
        ToolRun run = ToolRun.Of(args);

        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Equal("", run.Output);
        Assert.StartsWith("ambrosia: ", run.Error);
        Assert.Contains("--help", run.Error);
    }

    [Theory]
    [InlineData("log")]
    [InlineData("verify")]
    public void Directory_NotThere_EndsWith2AndMakesNothing(string command)
    {
        using var temporary = new TemporaryDirectory();
        ToolRun run = ToolRun.Of(command, temporary.Of("none"), "--json");

        Assert.Equal(ToolExit.Misuse, run.Code);
        JsonElement error = JsonDocument.Parse(run.Error).RootElement.GetProperty("error");
        Assert.Contains("not there", error.GetProperty("what").GetString());
        Assert.Contains("--log", error.GetProperty("mend").GetString());
        Assert.Empty(Directory.EnumerateFileSystemEntries(temporary.Path));
    }

    [Theory]
    [InlineData("log")]
    [InlineData("verify")]
    public void Directory_ThatIsNoLog_EndsWith2AndNamesThoseBelow(string command)
    {
        using var temporary = new TemporaryDirectory();
        LogMaker.Start(temporary.Of("counter")).Dispose();
        ToolRun run = ToolRun.Of(command, temporary.Path);

        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("is no log", run.Error);
        Assert.Contains(temporary.Of("counter"), run.Error);
    }

    [Fact]
    public void Help_Tool_ListsItsCommands()
    {
        ToolRun run = ToolRun.Of("--help");

        Assert.Equal(ToolExit.Fine, run.Code);
        foreach (string command in (string[])["log <DIR>", "verify <DIR>", "doctor <DIR>", "--json"]) Assert.Contains(command, run.Output);
    }
}
