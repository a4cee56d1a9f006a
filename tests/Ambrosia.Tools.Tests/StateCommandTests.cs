using System.Text.Json;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

/// <summary>The command that shows the state in a checkpoint, over images that are written here by hand.</summary>
public sealed class StateCommandTests : IDisposable
{
    private readonly StateLog _state = new();

    private string Log => _state.Directory;

    public void Dispose() => _state.Dispose();

    [Fact]
    public void State_OfTheNewestCheckpoint_IsShown()
    {
        MakeCheckpoint(100, Image(5));
        MakeCheckpoint(200, Image(6));
        ToolRun run = ToolRun.Of("state", Log, "--json");

        Assert.Equal(ToolExit.Fine, run.Code);
        Assert.Equal(
            """{"checkpoint":"ckpt.200.1.r0","lsn":200,"format":"ambrosia-csharp","version":8,"state":{"$type":"Shop.Counter","Total":6,"this":{"$ref":"state"},"Twice":[{"$ref":2},{"$ref":2}]},"session":{"NextCall":1},"objects":{"2":{"$bytes":"0a0b"}}}""",
            Normal(run.Json));
    }

    /// <summary>For people it is the same, over several lines.</summary>
    [Fact]
    public void State_AsText_IsIndentedJson()
    {
        MakeCheckpoint(100, Image(5));
        ToolRun run = ToolRun.Of("state", Log);

        Assert.True(run.Lines.Length > 10, run.Output);
        Assert.Equal(5, JsonDocument.Parse(run.Output).RootElement.GetProperty("state").GetProperty("Total").GetInt32());
    }

    [Theory]
    [InlineData("100", 5)]
    [InlineData("2", 5)]
    [InlineData("1", 6)]
    [InlineData("ckpt.", 5)]
    public void State_OfANamedCheckpoint_IsShown(string name, int total)
    {
        MakeCheckpoint(100, Image(5));
        MakeCheckpoint(200, Image(6));
        if (name == "ckpt.") name = NameOf(100);

        Assert.Equal(total, Total(ToolRun.Of("state", Log, "--checkpoint", name, "--json")));
    }

    [Theory]
    [InlineData("170", 200)]
    [InlineData("3", 100)]
    [InlineData("nonsense", 200)]
    public void State_OfAWrongCheckpoint_NamesTheNearest(string name, ulong nearest)
    {
        MakeCheckpoint(100, Image(5));
        MakeCheckpoint(200, Image(6));
        ToolRun run = ToolRun.Of("state", Log, "--checkpoint", name);

        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Equal("", run.Output);
        Assert.Contains($"'{name}' is no checkpoint of this log; the nearest is {NameOf(nearest)}", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void State_WhereTheNewestIsDamaged_IsThatOfTheOneBefore()
    {
        MakeCheckpoint(100, Image(5));
        MakeCheckpoint(200, Image(6));
        string newest = Path.Combine(Log, NameOf(200));
        byte[] bytes = File.ReadAllBytes(newest);
        bytes[^20] ^= 1;
        File.WriteAllBytes(newest, bytes);

        Assert.Equal(5, Total(ToolRun.Of("state", Log, "--json")));
        Assert.Equal(65, ToolRun.Of("state", Log, "--checkpoint", "1").Code);
    }

    [Fact]
    public void State_OfALogWithoutCheckpoints_IsRefused()
    {
        ToolRun run = ToolRun.Of("state", Log);

        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("this log has no checkpoint", run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("ambrosia", 2, "the image has the format ambrosia of version 2")]
    [InlineData("ambrosia-csharp", 9, "the image has the format ambrosia-csharp of version 9")]
    public void State_OfAnotherFormat_IsRefusedByName(string format, ulong version, string expected)
    {
        MakeCheckpoint(100, Image(5, format, version));
        ToolRun run = ToolRun.Of("state", Log);

        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains(expected, run.Error, StringComparison.Ordinal);
    }

    /// <summary>Whatever a damaged image says, it is refused or shown; nothing else happens.</summary>
    [Fact]
    public void State_OfADamagedImage_IsRefusedOrShown()
    {
        byte[] image = Image(5);
        var random = new Random(7);
        for (int i = 0; i < 300; i++)
        {
            byte[] damaged = [.. image];
            damaged[random.Next(damaged.Length)] = (byte)random.Next(256);
            if (i % 3 == 0) damaged = damaged[..random.Next(damaged.Length)];
            using var bytes = new Protocol.Payloads.LargeBuffer();
            bytes.Append(damaged);
            try
            {
                Images.Json.StateJson.Write(bytes, Images.Json.ImageOrigin.Of("ckpt", new Lsn(1)), static _ => { }, isIndented: false);
            }
            catch (ImageException)
            {
                // refused
            }
        }
    }

    private string NameOf(ulong lsn) => _state.NameOf(lsn);

    private static int Total(ToolRun run) => run.Json.GetProperty("state").GetProperty("Total").GetInt32();

    private string Normal(JsonElement shown) => shown.GetRawText().Replace(NameOf(200), "ckpt.200.1.r0", StringComparison.Ordinal);

    private void MakeCheckpoint(ulong at, byte[] image) => _state.MakeCheckpoint(at, image);

    private static byte[] Image(int total, string format = "ambrosia-csharp", ulong version = 8) => StateLog.Image(total, format, version);
}
