using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

/// <summary>A cut of a log is a log: whoever reads it finds what stood in the stretch, and nothing wrong.</summary>
public sealed class LogCutTests
{
    private const string Dir = "/log", To = "/cut";
    private readonly MemoryFileSystem _fs = new();
    private readonly List<LoggedRecord> _written = [];

    /// <summary>From every page that a checkpoint may state, to some records behind it, over segments and epochs.</summary>
    [Fact]
    public void Write_AnyStretch_IsAWholeLogOfIt()
    {
        InstanceIdentity identity = Write(epochs: 3, records: 30);
        foreach (PageHeader page in LongLog.Pages(_fs, Dir, identity))
        {
            if (page.Flags is not (PageFlags.None or PageFlags.BeginsSpanning)) continue;
            CheckpointFileName beginning = Checkpoint(identity, page);
            List<LoggedRecord> behind = [.. _written.Where(each => each.Lsn >= page.Lsn)];
            foreach (LoggedRecord last in new[] { behind[0], behind[behind.Count / 2], behind[^1] })
                Check(identity, beginning, last.Lsn + 1, behind);
            _fs.Delete(Path.Combine(Dir, beginning.ToString()));
        }
    }

    [Fact]
    public void Write_FromTheFirstRecord_NeedsNoCheckpoint()
    {
        InstanceIdentity identity = Write(epochs: 2, records: 20);
        foreach (LoggedRecord last in _written) Check(identity, null, last.Lsn + 1, _written);
    }

    /// <summary>The last page of the stretch is a mark, and only the page behind it states that this mark is durable, too.</summary>
    [Fact]
    public void Write_ToTheStatedEnd_StatesAsMuch()
    {
        InstanceIdentity identity = Write(epochs: 1, records: 4);
        List<LoggedRecord> stated = [.. _written];
        _written.AddRange(LongLog.Write(_fs, Dir, epochs: 1, records: 1, marks: false));
        List<PageHeader> pages = LongLog.Pages(_fs, Dir, identity);
        Assert.Equal(PageFlags.DurableMark, pages[^2].Flags);
        Assert.Equal(pages[^2].Next, pages[^1].DurableUpTo);
        Check(identity, null, pages[^1].DurableUpTo, stated);
    }

    /// <summary>
    /// Other content of the same length is a whole log too: with its own checksums, chained anew, and with no hash of what was there.
    /// </summary>
    [Fact]
    public void Write_Rewritten_IsAWholeLogOfWhatWasWritten()
    {
        InstanceIdentity identity = Write(epochs: 3, records: 30);
        PageHeader page = LongLog.Pages(_fs, Dir, identity).First(static each => each.Lsn.Value > 0 && each.Flags == PageFlags.None);
        CheckpointFileName beginning = Checkpoint(identity, page);
        List<LoggedRecord> behind = [.. _written.Where(each => each.Lsn >= page.Lsn).Select(static each =>
            each with { Body = Rewriting.Of(each.Kind, each.Body) })];
        Assert.Contains(LongLog.Pages(_fs, Dir, identity), static each => each.Flags == PageFlags.ContinuesSpanning);
        Check(identity, beginning, _written[^1].Lsn + 1, behind, new Rewriting());
        PageHeader first = LongLog.Pages(_fs, To, identity)[0];
        Assert.Equal((page.Lsn, new Rewriting().PreviousHash), (first.Lsn, first.PreviousHash));
        Check(identity, null, _written[^1].Lsn + 1,
            [.. _written.Select(static each => each with { Body = Rewriting.Of(each.Kind, each.Body) })], new Rewriting());
    }

    /// <summary>Writes other bytes into each record but the first, which a log cannot do without.</summary>
    private sealed class Rewriting : ICutRewriting
    {
        public ulong PreviousHash => 0x1234;

        public static byte[] Of(RecordKind kind, byte[] body)
        {
            byte[] other = [.. body];
            new Rewriting().Rewrite(kind, other);
            return other;
        }

        public void Rewrite(RecordKind kind, Span<byte> body)
        {
            if (kind == RecordKind.FirstStart) return;
            for (int i = 0; i < body.Length; i++) body[i] = (byte)(body[i] + i + 7);
        }

        public void Rewrite(CheckpointReader from, CheckpointWriter to)
        {
            to.Write(CheckpointSection.CoordinatorPart, from.CoordinatorBytes.Span);
            to.Write(CheckpointSection.Image, [2]);
        }
    }

    [Fact]
    public void Write_DamagedStretch_Halts()
    {
        InstanceIdentity identity = Write(epochs: 2, records: 12);
        Lsn damaged = LongLog.Pages(_fs, Dir, identity)[3].Lsn;
        Assert.True(LogChain.Load(_fs, Dir, identity).TryFind(damaged, out LogSegment segment, out _));
        using (IFile file = _fs.Open(segment.Path, FileUse.ReadWrite)) file.Write([0xFF, 0xFF], segment.Header.OffsetOf(damaged) + 70);
        LogDamage found = Assert.Throws<LogDamage>(() => Cut(identity, null, _written[^1].Lsn + 1));
        Assert.Equal(damaged, found.Lsn);
    }

    private void Check(
        InstanceIdentity identity, CheckpointFileName? beginning, Lsn goal, List<LoggedRecord> behind, ICutRewriting? rewriting = null)
    {
        Lsn end = Cut(identity, beginning, goal, rewriting);
        using LogScan scan = LogScan.Open(_fs, To, identity);
        List<LoggedRecord> records = LogContent.Read(_fs, To, out Lsn read, scan.From);
        Assert.Equal(behind.Where(each => each.Lsn < end), records);
        Assert.True(records[^1].Lsn + 1 >= goal || end >= goal, $"{records[^1]} is the last of what was to end at {goal}");
        while (scan.Next()) { }
        Assert.Equal(read, Assert.IsType<ReadVerdict.CleanEnd>(scan.Verdict).End);
        Assert.True(scan.Verdict.DurableUpTo >= end, $"{scan.Verdict}");
        ReadVerdict judged = LogStart.Judge(new LogLocation(_fs, To, identity), out LogChain chain);
        Assert.Equal(read, judged.End);
        Assert.Null(LogStart.FindGap(new LogLocation(_fs, To, identity), chain));
        if (beginning is null) return;
        using CheckpointReader checkpoint = CheckpointReader.Open(_fs, Path.Combine(To, beginning.ToString()), identity);
        Assert.Equal("", LogStart.WhatIsWrong(new LogLocation(_fs, To, identity), checkpoint.Header, chain));
    }

    private Lsn Cut(InstanceIdentity identity, CheckpointFileName? beginning, Lsn goal, ICutRewriting? rewriting = null)
    {
        foreach (string name in _fs.List(To)) _fs.Delete(Path.Combine(To, name));
        _fs.CreateDirectory(To);
        return new LogCut(new LogLocation(_fs, Dir, identity), new LogLocation(_fs, To, identity), rewriting)
            .Write(beginning, goal, static _ => { });
    }

    private CheckpointFileName Checkpoint(InstanceIdentity identity, PageHeader page)
    {
        LogChain chain = LogChain.Load(_fs, Dir, identity);
        var header = new CheckpointHeader(
            0, identity.Uuid, page.Lsn, page.Lsn, page.Epoch, chain.VersionAt(_fs, page.Lsn), 1, page.TimeMicros, page.PreviousHash, "r0");
        using var writer = new CheckpointWriter(_fs, Dir, identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, [0x84]);
        writer.Write(CheckpointSection.Image, [1]);
        writer.Finish();
        writer.Publish(page.Lsn);
        return header.FileName;
    }

    private InstanceIdentity Write(int epochs, int records)
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        using (Primary first = Primary.Start(_fs, Dir))
        {
            _written.Add(first.Begin());
            first.Commit();
        }
        for (int idle = 0; idle < 2; idle++) Primary.Start(_fs, Dir).Dispose(); // epochs whose segments hold nothing
        _written.AddRange(LongLog.Write(_fs, Dir, epochs - 1, records));
        for (int idle = 0; idle < 2; idle++) Primary.Start(_fs, Dir).Dispose();
        _written.AddRange(LongLog.Write(_fs, Dir, 1, records));
        return identity;
    }
}
