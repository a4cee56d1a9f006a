using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Retention;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Tests;

public sealed class CheckpointTests
{
    private const string Dir = "/log";
    private static readonly InstanceIdentity s_identity = new("counter", 0, Primary.Uuid, 1_000_000);
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Write_AllSections_AreReadBack()
    {
        byte[] coordinator = Bytes(300, 1), outbox = Bytes(2_500_000, 2), image = Bytes(3 << 20, 3);
        using CheckpointWriter writer = Begin(new Lsn(10_000), new Lsn(8_192));
        writer.Write(CheckpointSection.CoordinatorPart, coordinator);
        foreach (byte[] part in outbox.Chunk(7_777)) writer.Write(CheckpointSection.Outbox, part);
        writer.Write(CheckpointSection.Image, image);
        CheckpointWriter.FinishedCheckpoint finished = writer.Finish();
        Assert.DoesNotContain(finished.Name.ToString(), _fs.List(Dir));
        Assert.True(writer.Publish(new Lsn(12_288)));
        Assert.Equal(["ckpt.10000.3.r1"], _fs.List(Dir));

        using CheckpointReader reader = CheckpointReader.Open(_fs, $"{Dir}/{finished.Name}", s_identity);
        Assert.Equal(Header(new Lsn(10_000), new Lsn(8_192)), reader.Header);
        Assert.Equal(coordinator, reader.CoordinatorBytes.ToArray());
        Assert.Equal((finished.Digest, finished.Bytes), (reader.Digest, reader.Bytes));
        Assert.Equal(ChannelHash.Append(0, [.. coordinator, .. outbox, .. image]), finished.Digest);
        var read = new Dictionary<CheckpointSection, List<byte>> { [CheckpointSection.Outbox] = [], [CheckpointSection.Image] = [] };
        while (reader.Read(out CheckpointSection section, out ReadOnlySpan<byte> content)) read[section].AddRange(content);
        Assert.Equal(outbox, read[CheckpointSection.Outbox]);
        Assert.Equal(image, read[CheckpointSection.Image]);
    }

    [Fact]
    public void Publish_BelowTheStatedPosition_IsRefused()
    {
        using CheckpointWriter writer = Begin(new Lsn(10_000), new Lsn(8_192));
        Assert.Throws<InvalidOperationException>(() => writer.Publish(new Lsn(20_000))); // not finished
        writer.Finish();
        Assert.Throws<InvalidOperationException>(() => writer.Publish(new Lsn(9_999)));
        Assert.True(writer.Publish(new Lsn(10_000)));
    }

    [Fact]
    public void Publish_AfterANewPrimaryCleanedUp_SaysSo()
    {
        using CheckpointWriter writer = Begin(new Lsn(10_000), new Lsn(8_192));
        writer.Finish();
        _fs.Delete($"{Dir}/{Assert.Single(_fs.List(Dir))}");
        Assert.False(writer.Publish(new Lsn(10_000)));
    }

    [Fact]
    public void Abandon_Unfinished_LeavesNothing()
    {
        using CheckpointWriter writer = Begin(new Lsn(10_000), new Lsn(8_192));
        writer.Write(CheckpointSection.Image, Bytes(5 << 20, 1));
        writer.Abandon();
        Assert.Empty(_fs.List(Dir));
        Assert.Throws<ObjectDisposedException>(() => writer.Finish());
    }

    [Fact]
    public void Write_SectionsOutOfOrder_Throws()
    {
        using CheckpointWriter writer = Begin(new Lsn(10_000), new Lsn(8_192));
        writer.Write(CheckpointSection.Image, [1]);
        Assert.Throws<InvalidOperationException>(() => writer.Write(CheckpointSection.Outbox, [1]));
        Assert.Throws<InvalidOperationException>(() => writer.Write(CheckpointSection.Header, [1]));
        Assert.Throws<InvalidOperationException>(() => writer.Write(CheckpointSection.Trailer, [1]));
    }

    [Fact]
    public void Open_EveryBitFlippedAndEveryLength_IsRefused()
    {
        string path = Publish(new Lsn(10_000), new Lsn(8_192), image: 200);
        byte[] good = _fs.Content(path);
        for (int bit = 0; bit < good.Length * 8; bit++)
        {
            byte[] bad = [.. good];
            bad[bit / 8] ^= (byte)(1 << (bit % 8));
            _fs.SetContent(path, bad);
            Assert.Throws<LogDamage>(() => CheckpointReader.Open(_fs, path, s_identity));
        }
        for (int length = 0; length < good.Length; length++)
        {
            _fs.SetContent(path, good.AsSpan(0, length));
            Assert.Throws<LogDamage>(() => CheckpointReader.Open(_fs, path, s_identity));
        }
        _fs.SetContent(path, [.. good, 0]);
        Assert.Throws<LogDamage>(() => CheckpointReader.Open(_fs, path, s_identity));
        _fs.SetContent(path, good);
        CheckpointReader.Open(_fs, path, s_identity).Dispose(); // the control: it was good
    }

    [Fact]
    public void Open_OfAnotherInstanceOrUnderAnotherName_IsRefused()
    {
        string path = Publish(new Lsn(10_000), new Lsn(8_192));
        Assert.Throws<LogDamage>(
            () => CheckpointReader.Open(_fs, path, s_identity with { Uuid = Guid.Parse("00000000-0000-0000-0000-000000000001") }));
        Assert.Throws<LogDamage>(() => CheckpointReader.Open(_fs, path, s_identity with { Shard = 1 }));
        string other = $"{Dir}/ckpt.10001.3.r1";
        _fs.Rename(path, other);
        Assert.Throws<LogDamage>(() => CheckpointReader.Open(_fs, other, s_identity));
    }

    [Fact]
    public void Finish_DeviceThatKeptSomethingElse_IsNoticed()
    {
        using CheckpointWriter writer = Begin(new Lsn(10_000), new Lsn(8_192));
        writer.Write(CheckpointSection.Image, Bytes((1 << 20) + 10, 5));
        string temporary = $"{Dir}/{Assert.Single(_fs.List(Dir))}";
        byte[] bytes = _fs.Content(temporary);
        bytes[500] ^= 1;
        _fs.SetContent(temporary, bytes);
        Assert.Throws<LogDamage>(() => writer.Finish());
    }

    [Fact]
    public void List_NamesOfAllKinds_AreNewestFirst()
    {
        foreach (string name in new[] { "ckpt.5.2.r0", "ckpt.40.1.r0", "ckpt.40.2.r0", "ckpt.04.2.r0", "ckpt.4.2", "ckpt.4.2.r.x",
            "ckpt.x.2.r0", "log.1.1", "ckpt.5.2.r0.r0.2.tmp" })
            _fs.Create($"{Dir}/{name}");
        Assert.Equal(["ckpt.40.2.r0", "ckpt.40.1.r0", "ckpt.5.2.r0"], CheckpointDirectory.List(_fs, Dir).Select(n => n.ToString()));
    }

    [Fact]
    public void Truncate_ThreeCheckpoints_KeepsTwoAndTheLogOfTheOlder()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = Fill(primary, 30);
        List<CheckpointFileName> names = [];
        foreach (int i in new[] { 10, 20, 28 }) names.Add(Write(_fs, Dir, primary, written[i].Lsn, written[i].Lsn + -64));
        TruncateResult result = primary.Truncate(_fs, Dir);
        Assert.Equal(1, result.CheckpointsRemoved);
        Assert.True(result.SegmentsRemoved >= 1);
        Assert.Equal([names[2], names[1]], CheckpointDirectory.List(_fs, Dir));
        Assert.True(result.KeptFrom <= written[20].Lsn);
        Assert.Equal(result.KeptFrom, LogChain.Load(_fs, Dir, primary.Identity).Segments[0].FirstLsn);
        Assert.Equal(written[20..], LogContent.Read(_fs, Dir, written[20].Lsn + -64));

        using var reader = new LogReader(_fs, Dir, primary.Identity, primary.Log.Chain);
        var buffer = new PageBuffer();
        Assert.Equal(ReadStatus.Truncated, reader.Read(Lsn.Zero, ref buffer));
        primary.Dispose();
        using Primary next = Primary.Start(_fs, Dir); // a log without its beginning is taken over like any other
        Assert.Equal(2, next.Log.Checkpoints.Count);
    }

    [Fact]
    public void Truncate_DamagedNewest_IsNotCountedAndNothingItNeedsGoes()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = Fill(primary, 30);
        CheckpointFileName oldest = Write(_fs, Dir, primary, written[10].Lsn, written[10].Lsn + -64);
        CheckpointFileName newest = Write(_fs, Dir, primary, written[28].Lsn, written[28].Lsn + -64);
        byte[] bytes = _fs.Content($"{Dir}/{newest}");
        bytes[^1] ^= 1;
        _fs.SetContent($"{Dir}/{newest}", bytes);
        TruncateResult result = primary.Truncate(_fs, Dir);
        Assert.Equal([newest], result.Damaged);
        Assert.Equal((0, 0, Lsn.Zero), (result.CheckpointsRemoved, result.SegmentsRemoved, result.KeptFrom));
        Assert.True(CheckpointDirectory.IsValid(_fs, Dir, oldest, primary.Identity));
        Assert.Equal(written, LogContent.Read(_fs, Dir));
    }

    internal static CheckpointFileName Write(IFileSystem fs, string dir, Primary primary, Lsn lsn, Lsn pageLsn)
    {
        var header = new CheckpointHeader(0, primary.Identity.Uuid, lsn, pageLsn, primary.Fence.Epoch, 0, 1, 5, 0, "r0");
        using var writer = new CheckpointWriter(fs, dir, primary.Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, [0x84]);
        writer.Write(CheckpointSection.Image, new byte[1_000]);
        CheckpointWriter.FinishedCheckpoint finished = writer.Finish();
        Assert.True(writer.Publish(primary.Writer.Stated));
        return finished.Name;
    }

    private static List<LoggedRecord> Fill(Primary primary, int groups)
    {
        var written = new List<LoggedRecord>();
        for (int i = 0; i < groups; i++)
        {
            written.Add(primary.Append(Bytes(15_000, i)));
            primary.Commit();
        }
        primary.Writer.AppendMark();
        primary.Commit();
        return written;
    }

    private static CheckpointHeader Header(Lsn lsn, Lsn pageLsn) =>
        new(0, Primary.Uuid, lsn, pageLsn, new Epoch(3), 7, 2, 123, 0xABCD, "r1");

    private CheckpointWriter Begin(Lsn lsn, Lsn pageLsn) => new(_fs, Dir, s_identity, Header(lsn, pageLsn), ICrashPoints.None);

    private string Publish(Lsn lsn, Lsn pageLsn, int image = 1_000)
    {
        using CheckpointWriter writer = Begin(lsn, pageLsn);
        writer.Write(CheckpointSection.CoordinatorPart, Bytes(50, 1));
        writer.Write(CheckpointSection.Image, Bytes(image, 2));
        CheckpointWriter.FinishedCheckpoint finished = writer.Finish();
        writer.Publish(lsn);
        return $"{Dir}/{finished.Name}";
    }

    private static byte[] Bytes(int count, int seed)
    {
        byte[] bytes = new byte[count];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }
}
