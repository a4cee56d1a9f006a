using System.Buffers;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;

namespace Ambrosia.Tools.Tests;

/// <summary>A log with checkpoints whose images are written here by hand.</summary>
internal sealed class StateLog : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly LogMaker _maker;

    public StateLog()
    {
        Directory = _temporary.Of("counter");
        _maker = LogMaker.Start(Directory);
    }

    public string Directory { get; }

    public string NameOf(ulong lsn) => new CheckpointFileName(new Lsn(lsn), _maker.Fence.Epoch, "r0").ToString();

    public void MakeCheckpoint(ulong at, byte[] image)
    {
        var lsn = new Lsn(at);
        var header = new CheckpointHeader(0, _maker.Identity.Uuid, lsn, Lsn.Zero, _maker.Fence.Epoch, 7, 8, 1_000_000, 1, "r0");
        using var writer = new CheckpointWriter(new PosixFileSystem(), Directory, _maker.Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, new CoordinatorPart([], [], [], Lsn.Zero, []).ToBytes());
        writer.Write(CheckpointSection.Image, image);
        writer.Finish();
        Assert.True(writer.Publish(lsn));
    }

    /// <summary>
    /// An image of a counter that refers to itself and twice to two bytes. Its rows: the root, the counter, bytes, an array of objects.
    /// </summary>
    public static byte[] Image(int total, string format = "ambrosia-csharp", ulong version = 8)
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

    /// <summary>An image of a bank: a map from names to numbers.</summary>
    public static byte[] Bank(params (string Name, int Balance)[] accounts)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        to.WriteArrayHeader(5);
        to.WriteString("ambrosia-csharp");
        to.WriteUInt64(8);
        to.WriteArrayHeader(0);
        to.WriteArrayHeader(3);
        Row(ref to, "Ambrosia.ImageRoot, Ambrosia", 0, "Immortal", "@", "NextCall", "u8");
        Row(ref to, "Shop.Bank, Shop", 0, "_accounts", "@");
        Row(ref to, "System.Collections.Generic.Dictionary, System.Private.CoreLib", 5, "s", "i4");
        to.WriteArrayHeader(6);
        Body(ref to, 0, 1, accounts.Length);
        Body(ref to, 1, 2);
        to.WriteUInt64(2);
        to.WriteArrayHeader(1 + 2 * accounts.Length);
        to.WriteUInt64(0);
        foreach ((string name, int balance) in accounts)
        {
            to.WriteString(name);
            to.WriteInt64(balance);
        }
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    public void Dispose()
    {
        _maker.Dispose();
        _temporary.Dispose();
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
