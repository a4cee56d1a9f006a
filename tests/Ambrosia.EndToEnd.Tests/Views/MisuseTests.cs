using Ambrosia.Log.Checkpoints;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// What somebody gets who asks for what is not there, or shows what is not whole: what it is, why, and what is near, with the exit code
/// that says whose mistake it is. The log is as it was.
/// </summary>
public sealed class MisuseTests(KeptHistory kept) : IClassFixture<KeptHistory>
{
    private const int Misuse = 2, Damage = 65;

    [Theory]
    [InlineData("--until", "64", "'64' is below what can be executed", "the oldest state that is kept", "start, ")]
    [InlineData("--until", "2020-01-01T00:00:00Z", "is outside of what this log tells", "it was logged from 20", "end, ")]
    [InlineData("--until", "method:Putt", "there is no method 'Putt'", "method:ILedger.Put")]
    [InlineData("--until", "9223372036854775807", "no place")]
    [InlineData("--checkpoint", "99", "99", "nearest")]
    [InlineData("--hold", "soon", "'soon' of --hold is no time", "30s")]
    [InlineData("--log", "/nowhere", "'/nowhere' is no log", "--log")]
    [InlineData("--commands", "/nowhere", "the commands in '/nowhere' cannot be read")]
    public void Debug_ThatAsksForWhatIsNot_EndsWithTwo(string option, string value, params string[] named)
    {
        string[] given = option == "--log" ? [option, value] : ["--log", kept.Directory, option, value];
        string[] commands = option == "--commands" ? [] : ["--commands", "/dev/null"];
        AssertMisuse(Tool.Debug([.. given, .. commands, "--", .. kept.App.Split(' ')]), named);
    }

    [Theory]
    [InlineData("--at", "64", "'64' is below what can be executed", "start, ")]
    [InlineData("--at", "2020-01-01T00:00:00Z", "is outside of what this log tells", "end, ")]
    [InlineData("--checkpoint", "99", "99", "nearest")]
    [InlineData("--path", "_cuont", "_cuont", "_count")]
    public void State_ThatAsksForWhatIsNot_EndsWithTwo(string option, string value, params string[] named) =>
        AssertMisuse(Tool.Run("state", kept.Directory, option, value, "--app", kept.App), named);

    [Theory]
    [InlineData("--from", "64", "'64' is below what can be executed", "start, ")]
    [InlineData("--until", "2020-01-01T00:00:00Z", "is outside of what this log tells", "end, ")]
    public void Replay_ThatAsksForWhatIsNot_EndsWithTwo(string option, string value, params string[] named) =>
        AssertMisuse(Tool.Run("replay", kept.Directory, option, value, "--app", kept.App), named);

    /// <summary>It speaks the protocol, and is of another service.</summary>
    [Theory]
    [InlineData("debug")]
    [InlineData("state")]
    [InlineData("replay")]
    public void App_OfAnotherService_IsToldSo(string command) => AssertMisuse(
        command == "debug" ? Tool.Debug(["--log", kept.Directory, "--commands", "/dev/null", "--", .. kept.OtherApp.Split(' ')])
            : command == "state" ? Tool.Run("state", kept.Directory, "--at", "end", "--app", kept.OtherApp)
            : Tool.Run("replay", kept.Directory, "--app", kept.OtherApp),
        "the app cannot begin with ckpt.", "image holds a Ambrosia.EndToEnd.App.Ledger, and this app is a Ambrosia.EndToEnd.App.Bank",
        "nothing older is kept");

    /// <summary>The record that names it stood at the beginning of the epoch, which is gone.</summary>
    [Fact]
    public void Build_WhoseRecordIsNotKept_IsToldFromTheCheckpoint()
    {
        Tool tool = Tool.Debug(["--log", kept.Directory, "--until", "end", "--commands", "/dev/null", "--", .. kept.App.Split(' ')]);
        Assert.True(tool.Code == 0, tool.Error);
        Assert.Matches(@"its checkpoint was taken by build [0-9a-f]+; yours is the same", tool.Output + tool.Error);
    }

    /// <summary>A bit in the middle of what is to be executed; what lies before it can be looked at all the same.</summary>
    [Fact]
    public void Log_WithADamagedPage_EndsWith65AndSaysWhere()
    {
        string copy = kept.Copy("damaged");
        CheckpointFileName oldest = kept.Checkpoints[^1];
        (string Segment, PageAt Page)[] behind =
        [
            .. Directory.EnumerateFiles(copy, "log.*").SelectMany(static path => LogFile.Pages(path).Select(page => (path, page)))
                .Where(each => each.page.Header.Lsn > oldest.Lsn && each.page.Header.Length > 1_000)
                .OrderBy(static each => each.page.Header.Lsn),
        ];
        (string segment, PageAt damaged) = behind[behind.Length / 2];
        FlipABit(segment, damaged.Offset + 500);
        string checkpoint = oldest.ToString(), place = $"{damaged.Header.Lsn}";

        Tool[] tools =
        [
            Tool.Debug(["--log", copy, "--checkpoint", checkpoint, "--commands", "/dev/null", "--", .. kept.App.Split(' ')]),
            Tool.Run("state", copy, "--at", "end", "--checkpoint", checkpoint, "--app", kept.App),
            Tool.Run("replay", copy, "--app", kept.App, "--old", kept.App),
        ];
        foreach (Tool tool in tools)
        {
            Assert.True(tool.Code == Damage, $"{tool.Code}: {tool.Output}{tool.Error}");
            Assert.Contains(Path.GetFileName(segment), tool.Output + tool.Error, StringComparison.Ordinal);
            Assert.Contains(place, tool.Output + tool.Error, StringComparison.Ordinal);
        }
        Tool before = Tool.Debug(
            ["--log", copy, "--until", checkpoint.Split('.')[1], "--commands", "/dev/null", "--", .. kept.App.Split(' ')]);
        Assert.True(before.Code == 0, $"{before.Code}: {before.Output}{before.Error}");
    }

    /// <summary>A copy that was broken off: its last segment is shorter than it was made.</summary>
    [Fact]
    public void Copy_ThatWasBrokenOff_SaysSo()
    {
        string copy = kept.Copy("torn"), newest = LogFile.Newest(copy);
        long length = LogFile.Pages(newest)[^1].Offset - 4_000;
        using (FileStream file = File.OpenWrite(newest)) file.SetLength(length);
        Tool debug = Tool.Debug(["--log", copy, "--commands", "/dev/null", "--", .. kept.App.Split(' ')]);
        Assert.True(debug.Code == Damage, $"{debug.Code}: {debug.Output}{debug.Error}");
        Assert.Contains(Path.GetFileName(newest), debug.Error, StringComparison.Ordinal);
    }

    [ReadOnlyMountFact]
    public void Log_OnAReadOnlyMount_IsExecuted()
    {
        string mounted = $"mount --bind -o ro {kept.Directory} {kept.Directory} && ! touch {kept.Directory}/x 2>&1";
        Tool tool = Tool.Of("unshare", ["-rm", "sh", "-c", $"{mounted} && exec \"$0\" \"$@\"", Executables.Coordinator,
            "debug", "--log", kept.Directory, "--commands", "/dev/null", "--", .. kept.App.Split(' ')]);
        Assert.True(tool.Code == 0, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.Contains("stopped at ", tool.Output, StringComparison.Ordinal);
        kept.AssertUntouched();
    }

    private void AssertMisuse(Tool tool, params string[] named)
    {
        Assert.True(tool.Code == Misuse, $"{tool.Code}: {tool.Output}{tool.Error}");
        foreach (string each in named) Assert.Contains(each, tool.Error, StringComparison.Ordinal);
        kept.AssertUntouched();
    }

    private static void FlipABit(string file, long at)
    {
        using FileStream stream = new(file, FileMode.Open, FileAccess.ReadWrite);
        stream.Position = at;
        int value = stream.ReadByte();
        stream.Position = at;
        stream.WriteByte((byte)(value ^ 1));
    }
}
