using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Which checkpoint a start uses: the newest whole one; a damaged one is passed over with a line that names it.</summary>
public sealed class RecoveryTests
{
    private readonly OpenedLog log = new();
    private readonly List<string> lines = [];
    private readonly CheckpointFileName older, newer;

    public RecoveryTests()
    {
        while (log.Writer.Durable < new Lsn(8_192))
        {
            log.Append(new TrimRecord([new TrimPosition(1, 1)]));
            log.Commit();
        }
        older = Write(new Lsn(4_096));
        newer = Write(log.Writer.Durable);
    }

    [Fact]
    public void Newest_BothWhole_IsTheNewerAndSilent()
    {
        using FoundCheckpoint? found = Newest();
        Assert.Equal(newer, found!.Header.FileName);
        Assert.Empty(lines);
    }

    /// <summary>A secondary that was stopped for long: nothing is damaged, it has only not read so far.</summary>
    [Fact]
    public void Newest_AllBeyondWhatWasRead_IsDamageOnlyToWhoKnowsTheWholeLog()
    {
        LogChain kept = log.Chain;
        while (kept.Segments[0].FirstLsn == Lsn.Zero)
        {
            log.Append(new TrimRecord([new TrimPosition(1, 1)]));
            log.Commit();
            if (kept.Segments.Length < 3) continue;
            log.Disk.Delete(kept.Segments[0].Path);
            kept = LogChain.Load(log.Disk, OpenedLog.Directory, log.Identity);
        }
        var recovery = new Ambrosia.Coordinator.Recovery(log.Disk, OpenedLog.Directory, log.Identity, kept, lines.Add);
        var unread = new Lsn(older.Lsn.Value - 1);
        Assert.Throws<LogUnreadException>(() => recovery.Newest(unread, mayReadOn: true));
        Assert.Throws<LogDamage>(() => recovery.Newest(unread));
        foreach (CheckpointFileName name in new[] { older, newer }) log.Disk.Delete($"{OpenedLog.Directory}/{name}");
        Assert.Throws<LogDamage>(() => recovery.Newest(unread, mayReadOn: true)); // there is none at all
    }

    /// <summary>Every 61st bit, so that each bit of a byte comes; the log's own tests flip them all.</summary>
    [Fact]
    public void Newest_AnyBitOfTheNewerFlipped_IsTheOlderAndSaysSo()
    {
        string path = $"{OpenedLog.Directory}/{newer}";
        byte[] whole = log.Disk.ReadAll(path);
        for (int bit = 0; bit < whole.Length * 8; bit += 61)
        {
            log.Disk.FlipBit(path, bit / 8, bit % 8);
            lines.Clear();
            using (FoundCheckpoint? found = Newest()) Assert.Equal(older, found!.Header.FileName);
            string line = Assert.Single(lines);
            Assert.Contains($"{newer} is passed over", line, StringComparison.Ordinal);
            log.Disk.FlipBit(path, bit / 8, bit % 8);
        }
        Assert.Equal(whole, log.Disk.ReadAll(path));
    }

    [Fact]
    public void Newest_BothDamaged_IsTheBeginningWhileTheLogHasIt()
    {
        foreach (CheckpointFileName name in new[] { older, newer }) log.Disk.FlipBit($"{OpenedLog.Directory}/{name}", 99, 2);
        Assert.Null(Newest());
        Assert.Equal(2, lines.Count);
    }

    private FoundCheckpoint? Newest() =>
        new Recovery(log.Disk, OpenedLog.Directory, log.Identity, log.Chain, lines.Add).Newest(log.Writer.Durable);

    private CheckpointFileName Write(Lsn lsn)
    {
        var header = new CheckpointHeader(0, log.Identity.Uuid, lsn, Lsn.Zero, log.Epoch, 0, 0, 1, 0, "r0");
        using var writer = new CheckpointWriter(log.Disk, OpenedLog.Directory, log.Identity, header, NoCrashPoints.Instance);
        writer.Write(CheckpointSection.Coordinator, new CoordinatorPart([], [], [], Lsn.Zero, []).ToBytes());
        writer.Write(CheckpointSection.Image, new byte[500]);
        writer.Finish();
        Assert.True(writer.Publish(log.Writer.Durable));
        return header.FileName;
    }
}
