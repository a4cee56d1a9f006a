using System.Buffers.Binary;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The program that made the logs under Golden/v2: `AMBROSIA_WRITE_GOLDEN=DIR dotnet test tests/Ambrosia.Log.Tests --filter GoldenLogTests`
/// writes the logs of today's version there. Logs that are committed are never made again: a version whose writer changed
/// adds a folder of its own.
/// </summary>
internal static class GoldenMaker
{
    public const string Dir = "/log";
    private static readonly InstanceId s_peer = new("monitor");
    private static readonly LogOptions s_options = Primary.Small with
    {
        SegmentBytes = 32 << 10, PageBytes = 8 << 10, Pages = 32, ZeroWindowBytes = 4 << 10
    };

    /// <summary>The name of every log, and how it is made.</summary>
    public static IReadOnlyDictionary<string, Func<MemoryFileSystem>> All { get; } = new SortedDictionary<string, Func<MemoryFileSystem>>(
        StringComparer.Ordinal)
    {
        ["segments"] = Segments,
        ["take-over"] = TakeOvers,
        ["torn-tail"] = TornTail,
        ["torn-spanning"] = TornSpanning,
        ["damaged-middle"] = DamagedMiddle,
        ["truncated"] = Truncated,
        ["recycled"] = Recycled,
        ["damaged-checkpoint"] = DamagedCheckpoint,
        ["upgrade"] = Upgrade,
        ["upgrade-that-never-happened"] = UpgradeThatNeverHappened,
    };

    /// <summary>Several segments of one epoch, every kind of record that is written, a spanning record, a mark at the end.</summary>
    private static MemoryFileSystem Segments()
    {
        var fs = new MemoryFileSystem();
        using Primary primary = Begin(fs);
        Runs(primary, 24);
        Mark(primary);
        return fs;
    }

    /// <summary>Three epochs: each take-over logs a tail again that nothing stated, the second one twice over.</summary>
    private static MemoryFileSystem TakeOvers()
    {
        var fs = new MemoryFileSystem();
        using (Primary first = Begin(fs)) Runs(first, 5);
        Primary.Start(fs, Dir, s_options, "r1").Dispose();
        using (Primary third = Primary.Start(fs, Dir, s_options, "r0"))
        {
            Runs(third, 4, firstNumber: 6);
            Mark(third);
        }
        return fs;
    }

    /// <summary>The middle one of the last group's three pages did not reach the disk.</summary>
    private static MemoryFileSystem TornTail()
    {
        var fs = new MemoryFileSystem();
        List<LoggedRecord> last;
        using (Primary primary = Begin(fs, 64 << 10))
        {
            Runs(primary, 3);
            // the fourth seals the third page, and is lost
            last = [.. Enumerable.Range(0, 4).Select(i => primary.Append(Body(5_000, i), RecordKind.NondetResult))];
            CommitGroup group = primary.Next()!;
            Assert.Equal(3, group.PageCount);
            Primary.Steps(group);
        }
        Change(fs, "log.1.1", bytes => bytes.AsSpan(Offset(last[1]), 8_192).Clear());
        return fs;
    }

    /// <summary>The last part of a spanning record is missing: the log ends before the first.</summary>
    private static MemoryFileSystem TornSpanning()
    {
        var fs = new MemoryFileSystem();
        LoggedRecord spanning;
        using (Primary primary = Begin(fs, 64 << 10))
        {
            Runs(primary, 2);
            spanning = primary.AppendSpanning(Body(18_000, 1), RecordKind.NondetResult);
            primary.Commit();
        }
        Change(fs, "log.1.1", bytes => bytes.AsSpan(Offset(spanning) + (16 << 10)).Clear());
        return fs;
    }

    /// <summary>A bit of a page in the middle of the second segment is wrong.</summary>
    private static MemoryFileSystem DamagedMiddle()
    {
        MemoryFileSystem fs = Segments();
        Change(fs, "log.2.1", bytes => bytes[SegmentHeader.Bytes + 4_096 + 100] ^= 0x10);
        return fs;
    }

    /// <summary>Two checkpoints, and the log of the older: what was below is gone.</summary>
    private static MemoryFileSystem Truncated()
    {
        var fs = new MemoryFileSystem();
        using Primary primary = Begin(fs);
        List<LoggedRecord> runs = Runs(primary, 24);
        Mark(primary);
        foreach (LoggedRecord at in new[] { runs[12], runs[18] }) Checkpoint(fs, primary, at.Lsn);
        TruncateResult removed = primary.Truncate(fs, Dir);
        Assert.True(removed.SegmentsRemoved > 0);
        return fs;
    }

    /// <summary>Trimmed segments live again: the last one has pages of its earlier life behind its end.</summary>
    private static MemoryFileSystem Recycled()
    {
        var fs = new MemoryFileSystem();
        using Primary primary = Begin(fs);
        List<LoggedRecord> runs = Runs(primary, 24);
        Mark(primary);
        foreach (LoggedRecord at in new[] { runs[17], runs[22] }) Checkpoint(fs, primary, at.Lsn);
        Assert.True(primary.Truncation(fs, Dir).Truncate(default).SegmentsRemoved > 0);
        for (int number = 25; !primary.Log.Chain.Segments[^1].Header.IsRecycled; number += 2) Runs(primary, 2, number);
        Mark(primary);
        return fs;
    }

    /// <summary>The newer of two checkpoints is damaged; the older one serves.</summary>
    private static MemoryFileSystem DamagedCheckpoint()
    {
        MemoryFileSystem fs = Truncated();
        string newest = fs.List(Dir).Where(n => n.StartsWith("ckpt.", StringComparison.Ordinal)).MaxBy(n => CheckpointFileName.Parse(n)!)!;
        Change(fs, newest, bytes => bytes[200] ^= 1);
        return fs;
    }

    /// <summary>Version 8 goes on from a checkpoint of its own, which the Upgrade names; a take-over follows.</summary>
    private static MemoryFileSystem Upgrade()
    {
        var fs = new MemoryFileSystem();
        using (Primary primary = Begin(fs))
        {
            Runs(primary, 4);
            UpgradeRecord upgrade = Checkpoint(fs, primary, primary.Writer.Tail, appVersion: 8);
            primary.AppendVersion(primary.Writer.Tail, upgrade, appVersion: 8);
            Assert.False(primary.Writer.TryAppendVersion(primary.Writer.Tail, RecordKind.Upgrade, [], 9)); // one is on its way
            primary.Commit();
            Runs(primary, 3, firstNumber: 5);
            Mark(primary);
        }
        Primary.Start(fs, Dir, s_options, "r1").Dispose();
        return fs;
    }

    /// <summary>Whoever made the checkpoint of version 8 died before the Upgrade; version 7 went on.</summary>
    private static MemoryFileSystem UpgradeThatNeverHappened()
    {
        var fs = new MemoryFileSystem();
        using Primary primary = Begin(fs);
        Runs(primary, 4);
        Checkpoint(fs, primary, primary.Writer.Tail, appVersion: 8);
        Runs(primary, 3, firstNumber: 5);
        Mark(primary);
        return fs;
    }

    private static Primary Begin(MemoryFileSystem fs, long segmentBytes = 32 << 10)
    {
        Primary primary = Primary.Start(fs, Dir, s_options with { SegmentBytes = segmentBytes });
        primary.Begin();
        primary.Commit();
        Append(primary, new PeerRecord(1, s_peer, new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), new Epoch(3)));
        primary.Commit();
        return primary;
    }

    /// <summary>Runs of calls from the peer, of many sizes, one of them spanning; now and then what else a primary logs.</summary>
    private static List<LoggedRecord> Runs(Primary primary, int count, int firstNumber = 1)
    {
        var runs = new List<LoggedRecord>();
        for (int i = 0; i < count; i++)
        {
            byte[] run = Run((ulong)(firstNumber + i), i == 7 ? 12_000 : 40 + i * 331 % 4_000);
            runs.Add(run.Length > 8_000 ? primary.AppendSpanning(run) : primary.Append(run));
            if (i % 5 == 2) Append(primary, new TrimRecord([new TrimPosition(1, (ulong)i)]));
            if (i % 7 == 3) Append(primary, new CheckpointMarkRecord(primary.Fence.Epoch, 0, "r0"));
            if (i % 9 == 4) Append(primary, new DigestRecord(runs[^1].Lsn, [new DigestEntry(s_peer, (ulong)i, 0x1234)]));
            if (i % 2 == 1) primary.Commit();
        }
        primary.Commit();
        return runs;
    }

    private static byte[] Run(ulong number, int argumentBytes)
    {
        byte[] arguments = Body(argumentBytes, (int)number);
        byte[] message = new byte[Varint.SizeOf((ulong)argumentBytes + 1) + 1 + argumentBytes];
        int at = Varint.Write(message, (ulong)argumentBytes + 1);
        at += Varint.Write(message.AsSpan(at), 17);
        arguments.CopyTo(message, at);
        byte[] run = [.. new byte[RunHeader.Bytes], .. message];
        new RunHeader(MessageKind.Fork, false, 0, 1, number, 1, 0, number * 77).Write(run);
        return run;
    }

    private static void Append<T>(Primary primary, T record) where T : IRecordBody<T> => primary.Append(RecordKinds.Encode(record), T.Kind);

    private static void Mark(Primary primary)
    {
        Assert.True(primary.Writer.AppendMark());
        primary.Commit();
    }

    /// <summary>Publishes a checkpoint; returns the Upgrade that would name it.</summary>
    private static UpgradeRecord Checkpoint(MemoryFileSystem fs, Primary primary, Lsn at, uint appVersion = 7)
    {
        using LogScan scan = LogScan.Open(fs, Dir, primary.Identity);
        while (scan.Next() && scan.Page.Next <= at) { }
        bool isEnd = scan.Page.Next <= at;
        var header = new CheckpointHeader(0, primary.Identity.Uuid, at, isEnd ? at : scan.Page.Lsn, primary.Fence.Epoch, appVersion, 1,
            scan.Page.TimeMicros, isEnd ? scan.Page.Hash : scan.Page.PreviousHash, "r0");
        using var writer = new CheckpointWriter(fs, Dir, primary.Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, [0x84, 0x80, 0x80, 0x80, 0x82, 0x00, 0x80]);
        writer.Write(CheckpointSection.Image, Body(3_000, 9));
        writer.Finish();
        primary.Writer.AppendMark();
        primary.Commit();
        Assert.True(writer.Publish(primary.Writer.Stated));
        using CheckpointReader reader = CheckpointReader.Open(fs, $"{Dir}/{header.FileName}", primary.Identity);
        return new UpgradeRecord(7, 8, at, header.Epoch, "r0", ChannelHash.Append(0, reader.CoordinatorBytes.Span), reader.ImageHash,
            new BuildId(0x6F1C9E0A));
    }

    private static int Offset(LoggedRecord record) => SegmentHeader.Bytes + (int)(record.Lsn.Value & ~4_095ul);

    private static byte[] Body(int bytes, int seed)
    {
        byte[] body = new byte[bytes];
        // compresses in the repository
        for (int i = 0; i + 4 <= bytes; i += 4) BinaryPrimitives.WriteInt32LittleEndian(body.AsSpan(i), seed * 7_919 + i);
        return body;
    }

    private static void Change(MemoryFileSystem fs, string name, Action<byte[]> change)
    {
        byte[] bytes = fs.Content($"{Dir}/{name}");
        change(bytes);
        fs.SetContent($"{Dir}/{name}", bytes);
    }
}
