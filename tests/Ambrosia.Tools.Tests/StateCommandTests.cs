using System.Buffers;
using System.Text.Json;
using Ambrosia.Images.Reading;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Tests;

/// <summary>The command that shows the state in a checkpoint, over images that are written here by hand.</summary>
public sealed class StateCommandTests : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly string _log;
    private readonly LogMaker _maker;

    public StateCommandTests()
    {
        _log = _temporary.Of("counter");
        _maker = LogMaker.Start(_log);
    }

    public void Dispose()
    {
        _maker.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    public void State_OfTheNewestCheckpoint_IsShown()
    {
        MakeCheckpoint(100, Image(5));
        MakeCheckpoint(200, Image(6));
        ToolRun run = ToolRun.Of("state", _log, "--json");

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
        ToolRun run = ToolRun.Of("state", _log);

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

        Assert.Equal(total, Total(ToolRun.Of("state", _log, "--checkpoint", name, "--json")));
    }

    [Theory]
    [InlineData("170", 200)]
    [InlineData("3", 100)]
    [InlineData("nonsense", 200)]
    public void State_OfAWrongCheckpoint_NamesTheNearest(string name, ulong nearest)
    {
        MakeCheckpoint(100, Image(5));
        MakeCheckpoint(200, Image(6));
        ToolRun run = ToolRun.Of("state", _log, "--checkpoint", name);

        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Equal("", run.Output);
        Assert.Contains($"'{name}' is no checkpoint of this log; the nearest is {NameOf(nearest)}", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void State_WhereTheNewestIsDamaged_IsThatOfTheOneBefore()
    {
        MakeCheckpoint(100, Image(5));
        MakeCheckpoint(200, Image(6));
        string newest = Path.Combine(_log, NameOf(200));
        byte[] bytes = File.ReadAllBytes(newest);
        bytes[^20] ^= 1;
        File.WriteAllBytes(newest, bytes);

        Assert.Equal(5, Total(ToolRun.Of("state", _log, "--json")));
        Assert.Equal(ToolExit.Damage, ToolRun.Of("state", _log, "--checkpoint", "1").Code);
    }

    [Fact]
    public void State_OfALogWithoutCheckpoints_IsRefused()
    {
        ToolRun run = ToolRun.Of("state", _log);

        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("this log has no checkpoint", run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("ambrosia", 2, "the image has the format ambrosia of version 2")]
    [InlineData("ambrosia-csharp", 9, "the image has the format ambrosia-csharp of version 9")]
    public void State_OfAnotherFormat_IsRefusedByName(string format, ulong version, string expected)
    {
        MakeCheckpoint(100, Image(5, format, version));
        ToolRun run = ToolRun.Of("state", _log);

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

    private string NameOf(ulong lsn) => new CheckpointFileName(new Lsn(lsn), _maker.Fence.Epoch, "r0").ToString();

    private static int Total(ToolRun run) => run.Json.GetProperty("state").GetProperty("Total").GetInt32();

    private string Normal(JsonElement shown) => shown.GetRawText().Replace(NameOf(200), "ckpt.200.1.r0", StringComparison.Ordinal);

    private void MakeCheckpoint(ulong at, byte[] image)
    {
        var lsn = new Lsn(at);
        var header = new CheckpointHeader(0, _maker.Identity.Uuid, lsn, Lsn.Zero, _maker.Fence.Epoch, 7, 8, 1_000_000, 1, "r0");
        using var writer = new CheckpointWriter(new PosixFileSystem(), _log, _maker.Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, new CoordinatorPart([], [], [], Lsn.Zero, []).ToBytes());
        writer.Write(CheckpointSection.Image, image);
        writer.Finish();
        Assert.True(writer.Publish(lsn));
    }

    /// <summary>
    /// An image of a counter that refers to itself and twice to two bytes. Its rows: the root, the counter, bytes, an array of objects.
    /// </summary>
    private static byte[] Image(int total, string format = "ambrosia-csharp", ulong version = 8)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        to.WriteArrayHeader(5);
        to.WriteString(format);
        to.WriteUInt64(version);
        to.WriteArrayHeader(0);
        to.WriteArrayHeader(4);
        Row(ref to, "Ambrosia.ImageRoot, Ambrosia", 0, "Immortal", "@", "NextCall", "u8");
        Row(ref to, "Shop.Counter, Shop", 0, "<Total>k__BackingField", "i4", "<>4__this", "@", "Twice", "@");
        Row(ref to, "System.Byte[], System.Private.CoreLib", 2, "=u1");
        Row(ref to, "System.Object[], System.Private.CoreLib", 2, "@");
        to.WriteArrayHeader(8);
        Body(ref to, 0, 1, 1);
        Body(ref to, 1, total, 1, 3);
        to.WriteUInt64(2);
        to.WriteBytes([0x0A, 0x0B]);
        Body(ref to, 3, 2, 2);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    private static void Row(ref CborWriter to, string name, ulong kind, params string[] members)
    {
        to.WriteArrayHeader(3);
        to.WriteString(name);
        to.WriteUInt64(kind);
        to.WriteArrayHeader(members.Length);
        foreach (string member in members) to.WriteString(member);
    }

    private static void Body(ref CborWriter to, ulong row, params int[] items)
    {
        to.WriteUInt64(row);
        to.WriteArrayHeader(items.Length);
        foreach (int item in items) to.WriteInt64(item);
    }
}
