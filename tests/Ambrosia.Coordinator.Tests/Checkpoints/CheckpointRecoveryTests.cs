using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Which checkpoint a start uses: the newest whole one; a damaged one is passed over with a line that names it.</summary>
public sealed class CheckpointRecoveryTests
{
    private readonly OpenedLog _log = new();
    private readonly List<string> _lines = [];
    private readonly CheckpointFileName _older, _newer;

    public CheckpointRecoveryTests()
    {
        while (_log.Writer.Durable < new Lsn(8_192))
        {
            _log.Append(new TrimRecord([new TrimPosition(1, 1)]));
            _log.Commit();
        }
        _older = Write(new Lsn(4_096));
        _newer = Write(_log.Writer.Durable);
    }

    [Fact]
    public void Newest_BothWhole_IsTheNewerAndSilent()
    {
        using RestoredCheckpoint? found = Newest();
        Assert.Equal(_newer, found!.Header.FileName);
        Assert.Empty(_lines);
    }

    /// <summary>Removes the beginning of the log, and returns a recovery from what is left.</summary>
    private CheckpointRecovery WithoutTheBeginning()
    {
        LogChain kept = _log.Chain;
        while (kept.Segments[0].FirstLsn == Lsn.Zero)
        {
            _log.Append(new TrimRecord([new TrimPosition(1, 1)]));
            _log.Commit();
            if (kept.Segments.Length < 3) continue;
            _log.Disk.Delete(kept.Segments[0].Path);
            kept = LogChain.Load(_log.Disk, OpenedLog.Directory, _log.Identity);
        }
        return new CheckpointRecovery(_log.Location, kept, EventRecorder.OfTexts(_lines.Add));
    }

    /// <summary>A secondary that was stopped for long: nothing is damaged, it has only not read so far.</summary>
    [Fact]
    public void Newest_AllBeyondWhatWasRead_IsDamageOnlyToWhoKnowsTheWholeLog()
    {
        CheckpointRecovery recovery = WithoutTheBeginning();
        var unread = new Lsn(_older.Lsn.Value - 1);
        Assert.Throws<LogUnreadException>(() => recovery.Newest(unread, mayReadOn: true));
        Assert.Throws<LogDamage>(() => recovery.Newest(unread));
        foreach (CheckpointFileName name in new[] { _older, _newer }) _log.Disk.Delete($"{OpenedLog.Directory}/{name}");
        Assert.Throws<LogDamage>(() => recovery.Newest(unread, mayReadOn: true)); // there is none at all
    }

    /// <summary>Every 61st bit, so that each bit of a byte comes; the log's own tests flip them all.</summary>
    [Fact]
    public void Newest_AnyBitOfTheNewerFlipped_IsTheOlderAndSaysSo()
    {
        string path = $"{OpenedLog.Directory}/{_newer}";
        byte[] whole = _log.Disk.ReadAll(path);
        for (int bit = 0; bit < whole.Length * 8; bit += 61)
        {
            _log.Disk.FlipBit(path, bit / 8, bit % 8);
            _lines.Clear();
            using (RestoredCheckpoint? found = Newest()) Assert.Equal(_older, found!.Header.FileName);
            string line = Assert.Single(_lines);
            Assert.Contains($"{_newer} is passed over", line, StringComparison.Ordinal);
            _log.Disk.FlipBit(path, bit / 8, bit % 8);
        }
        Assert.Equal(whole, _log.Disk.ReadAll(path));
    }

    [Fact]
    public void Newest_BothDamaged_IsTheBeginningWhileTheLogHasIt()
    {
        foreach (CheckpointFileName name in new[] { _older, _newer }) _log.Disk.FlipBit($"{OpenedLog.Directory}/{name}", 99, 2);
        Assert.Null(Newest());
        Assert.Equal(2, _lines.Count);
    }

    [Fact]
    public void Newest_NewerUnreadable_IsTheOlderAndSaysSo()
    {
        _log.Disk.MakeUnreadable($"{OpenedLog.Directory}/{_newer}", 0, 1);
        using RestoredCheckpoint? found = Newest();
        Assert.Equal(_older, found!.Header.FileName);
        Assert.Contains("EIO", Assert.Single(_lines), StringComparison.Ordinal);
    }

    /// <summary>The app says so: the file is whole, it stays, and other processes try it anew.</summary>
    [Fact]
    public void Newest_NewerRefusedByTheApp_IsTheOlderThenTheBeginning()
    {
        var recovery = new CheckpointRecovery(_log.Location, _log.Chain, EventRecorder.OfTexts(_lines.Add));
        for (int i = 0; i < 2; i++) recovery.Refuse(_newer, "a sum of 15 is too high");
        Assert.Equal($"checkpoint {_newer} is passed over: the app cannot restore it: a sum of 15 is too high", Assert.Single(_lines));
        using (RestoredCheckpoint? found = recovery.Newest(_log.Writer.Durable)) Assert.Equal(_older, found!.Header.FileName);
        Assert.Equal(_newer, Assert.Single(recovery.Refused).Name);
        recovery.Refuse(_older, "nor is one of 5");
        Assert.Null(recovery.Newest(_log.Writer.Durable));
        using (RestoredCheckpoint? again = Newest()) Assert.Equal(_newer, again!.Header.FileName);
    }

    [Fact]
    public void Newest_AllRefusedByTheAppAndTheBeginningGone_IsMisuseAndNamesEach()
    {
        CheckpointRecovery recovery = WithoutTheBeginning();
        foreach (CheckpointFileName name in new[] { _older, _newer }) recovery.Refuse(name, "too high");
        var end = Assert.Throws<UnrestorableException>(() => recovery.Newest(_log.Writer.Durable));
        Assert.Equal(ExitCodes.Misuse, ExitCodes.Of(end));
        Assert.Contains($"{_newer} (the app cannot restore it: too high); {_older} (the app", end.Message, StringComparison.Ordinal);
    }

    /// <summary>Its sums hold, and another build, or one that errs, wrote what this one cannot take.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Newest_NewerMalformed_IsTheOlderAndSaysSo(bool isPeerWrong)
    {
        _log.Disk.Delete($"{OpenedLog.Directory}/{_newer}");
        var part = new CoordinatorPart(
            [new CheckpointPeer(7, new InstanceId("peer"), Guid.NewGuid(), new Epoch(1), 0)], [], [], Lsn.Zero, []);
        Write(_newer.Lsn, isPeerWrong ? part.ToBytes() : [0x84]);
        using RestoredCheckpoint? found = Newest();
        Assert.Equal(_older, found!.Header.FileName);
        Assert.Contains("L6.2", Assert.Single(_lines), StringComparison.Ordinal);
    }

    private RestoredCheckpoint? Newest() =>
        new CheckpointRecovery(_log.Location, _log.Chain, EventRecorder.OfTexts(_lines.Add))
            .Newest(_log.Writer.Durable);

    private CheckpointFileName Write(Lsn lsn, byte[]? part = null)
    {
        var header = new CheckpointHeader(0, _log.Identity.Uuid, lsn, Lsn.Zero, _log.Epoch, 0, 0, 1, 0, "r0");
        using var writer = new CheckpointWriter(_log.Disk, OpenedLog.Directory, _log.Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, part ?? new CoordinatorPart([], [], [], Lsn.Zero, []).ToBytes());
        writer.Write(CheckpointSection.Image, new byte[500]);
        writer.Finish();
        Assert.True(writer.Publish(_log.Writer.Durable));
        return header.FileName;
    }
}
