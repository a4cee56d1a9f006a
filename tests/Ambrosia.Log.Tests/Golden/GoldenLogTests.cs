using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>Logs written by earlier versions are read for ever, to the byte and to the verdict that is committed beside them.</summary>
public sealed class GoldenLogTests
{
    private const string ExpectedName = "expected.json";

    /// <summary>Version and name of every committed log.</summary>
    public static TheoryData<string> Committed() => [.. Names()];

    public static TheoryData<string> Made() => [.. GoldenMaker.All.Keys];

    [Theory]
    [MemberData(nameof(Committed))]
    public void Read_CommittedLog_IsWhatItWasWhenItWasMade(string log)
    {
        string dir = Path.Combine(Root(), log);
        Assert.Equal(File.ReadAllText(Path.Combine(dir, ExpectedName)), GoldenReading.Of(Load(dir)));
    }

    /// <summary>A primary goes on where the log ends, and what was read before is still there; a damaged head is refused.</summary>
    [Theory]
    [MemberData(nameof(Committed))]
    public void TakeOver_CommittedLog_GoesOn(string log)
    {
        MemoryFileSystem fs = Load(Path.Combine(Root(), log));
        InstanceIdentity identity = InstanceDirectory.TryRead(fs, GoldenMaker.Dir)!;
        List<LoggedRecord> before = Records(fs, identity);
        using Primary primary = Primary.Start(fs, GoldenMaker.Dir);
        LoggedRecord more = primary.Append([1, 2, 3]);
        primary.Commit();
        Assert.Equal([.. before, more], Records(fs, identity));
    }

    [Theory]
    [MemberData(nameof(Made))]
    public void Make_Today_ReadsAsItWasWritten(string name)
    {
        MemoryFileSystem fs = GoldenMaker.All[name]();
        string reading = GoldenReading.Of(fs);
        Assert.Contains(
            $"\"Kind\": \"{(name.StartsWith("torn", StringComparison.Ordinal) ? "cut" : name == "damaged-middle" ? "halt" : "whole")}\"",
            reading, StringComparison.Ordinal);
        if (Environment.GetEnvironmentVariable("AMBROSIA_WRITE_GOLDEN") is { Length: > 0 } to) Save(fs, Path.Combine(to, name), reading);
    }

    /// <summary>
    /// What the recycled log is kept for: behind its end stand whole pages of an earlier life, which no reader
    /// takes for its own or reports.
    /// </summary>
    [Fact]
    public void Committed_RecycledLog_HasPagesOfAnEarlierLifeBehindItsEnd()
    {
        MemoryFileSystem fs = Load(Path.Combine(Root(), "v2", "recycled"));
        InstanceIdentity identity = InstanceDirectory.TryRead(fs, GoldenMaker.Dir)!;
        using LogScan scan = LogScan.Open(fs, GoldenMaker.Dir, identity);
        while (scan.Next()) { }
        SegmentHeader header = scan.Segment.Header;
        Assert.True(header.IsRecycled);
        byte[] bytes = fs.Content(scan.Segment.Path);
        int stale = 0;
        for (long at = header.OffsetOf(scan.Verdict!.End); at < bytes.Length; at += SegmentHeader.Bytes)
            if (PageHeader.Read(bytes.AsSpan((int)at), PageHeader.SeedOf(identity.Uuid, identity.Shard), out PageHeader page) is null
                && page.Lsn < header.FirstLsn) stale++;
        Assert.True(stale > 0, "no stale page");
    }

    /// <summary>The control: another byte anywhere in a page of a committed log is another reading.</summary>
    [Fact]
    public void Read_ChangedByte_IsNoticed()
    {
        string dir = Path.Combine(Root(), "v2", "segments");
        MemoryFileSystem fs = Load(dir);
        byte[] bytes = fs.Content($"{GoldenMaker.Dir}/log.1.1");
        bytes[SegmentHeader.Bytes + 80] ^= 1;
        fs.SetContent($"{GoldenMaker.Dir}/log.1.1", bytes);
        Assert.NotEqual(File.ReadAllText(Path.Combine(dir, ExpectedName)), GoldenReading.Of(fs));
    }

    [Fact]
    public void Committed_EveryVersion_HasEveryLog() =>
        Assert.Superset(GoldenMaker.All.Keys.Select(name => Path.Combine("v2", name)).ToHashSet(), Names().ToHashSet());

    private static IEnumerable<string> Names() =>
        Directory.GetDirectories(Root()).SelectMany(Directory.GetDirectories).Select(log => Path.GetRelativePath(Root(), log))
            .Order(StringComparer.Ordinal);

    private static string Root() => Path.Combine(AppContext.BaseDirectory, "Golden");

    private static MemoryFileSystem Load(string dir)
    {
        var fs = new MemoryFileSystem();
        foreach (string path in Directory.GetFiles(dir))
        {
            string name = Path.GetFileName(path);
            if (name == ExpectedName) continue;
            fs.Create($"{GoldenMaker.Dir}/{name}").Dispose();
            fs.SetContent($"{GoldenMaker.Dir}/{name}", File.ReadAllBytes(path));
        }
        return fs;
    }

    private static void Save(MemoryFileSystem fs, string dir, string reading)
    {
        Directory.CreateDirectory(dir);
        foreach (string name in fs.List(GoldenMaker.Dir))
            if (!name.StartsWith("primary.", StringComparison.Ordinal) && !name.StartsWith("spare.", StringComparison.Ordinal))
                File.WriteAllBytes(Path.Combine(dir, name), fs.Content($"{GoldenMaker.Dir}/{name}"));
        File.WriteAllText(Path.Combine(dir, ExpectedName), reading);
    }

    private static List<LoggedRecord> Records(IFileSystem fs, InstanceIdentity identity)
    {
        var records = new List<LoggedRecord>();
        var spanning = new SpanningParts();
        using LogScan scan = LogScan.Open(fs, GoldenMaker.Dir, identity, new ScanOptions { GoesOn = true });
        while (scan.Next()) spanning.Add(scan.Page, records);
        return records;
    }
}
