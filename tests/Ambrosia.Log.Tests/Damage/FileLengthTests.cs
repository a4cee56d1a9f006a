using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A segment's file that is not as long as its header states was cut, or written by somebody else: it is damage wherever it ends, also
/// behind the last position that anything states (log-format L3.6).
/// </summary>
public sealed class FileLengthTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    /// <summary>The places where a file may end. In all of them no page and no checkpoint states what is missing.</summary>
    public enum End { AtThePagesBorder, InsideThePage, BehindThePage, OneByteTooEarly, OneByteTooLate }

    [Theory]
    [InlineData(End.AtThePagesBorder)]
    [InlineData(End.InsideThePage)]
    [InlineData(End.BehindThePage)]
    [InlineData(End.OneByteTooEarly)]
    [InlineData(End.OneByteTooLate)]
    public void Start_FileOfAnotherLengthThanItsHeaderStates_IsDamageOfThatFile(End end)
    {
        LoggedRecord unstated;
        using (Primary primary = Primary.Start(_fs, Dir))
        {
            primary.Fill(3);
            unstated = primary.Append([1, 2, 3]);
            primary.Commit();
            Assert.Equal(unstated.Lsn, primary.Writer.Stated + PageHeader.Bytes);
        }
        long page = PageAt(unstated), whole = _fs.Content($"{Dir}/log.1.1").Length;
        long length = end switch
        {
            End.AtThePagesBorder => page,
            End.InsideThePage => page + 70,
            End.BehindThePage => page + LogFormat.BlockBytes,
            End.OneByteTooEarly => whole - 1,
            _ => whole + 1,
        };
        AssertHalts("log.1.1", whole, length);
    }

    /// <summary>Below the seal pages are missing; behind it nothing is read, and somebody has cut the file all the same.</summary>
    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    public void Start_SegmentOfTheMiddleIsCutAroundItsEnd_IsDamageOfThatFile(int blocks)
    {
        using (Primary primary = Primary.Start(_fs, Dir)) primary.Fill(60);
        LogChain chain = LogChain.Load(_fs, Dir, InstanceDirectory.TryRead(_fs, Dir)!);
        Assert.True(chain.Segments.Length > 2, $"{chain.Segments.Length} segments");
        long whole = _fs.Content($"{Dir}/log.2.1").Length, end = chain.Segments[1].Header.OffsetOf(chain.Segments[2].FirstLsn);
        Assert.Equal(chain.Segments[1].Header.FileBytes, whole);
        AssertHalts("log.2.1", whole, end + blocks * LogFormat.BlockBytes);
    }

    [Fact]
    public void Step_FollowerComesToTheEndOfACutFile_IsDamage()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using var follower = new LogFollower(_fs, Dir, identity);
        primary.Fill(3);
        while (follower.Step()) { }
        Assert.Equal(primary.Writer.Stated, follower.Stated);
        long whole = Cut("log.1.1", primary.Log.Chain.Segments[0].Header.OffsetOf(primary.Writer.Durable));
        LogDamage damage = Assert.Throws<LogDamage>(() => follower.Step());
        AssertNames(damage, "log.1.1", whole, _fs.Content($"{Dir}/log.1.1").Length);
    }

    [Fact]
    public void Read_AtTheTailOfACutFile_IsDamage()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Fill(3);
        using var reader = new LogReader(_fs, Dir, primary.Identity, primary.Log.Chain);
        var buffer = new PageBuffer(4_096);
        Lsn tail = primary.Writer.Durable;
        Assert.Equal(ReadStatus.AtTail, reader.Read(tail, ref buffer));
        long offset = primary.Log.Chain.Segments[0].Header.OffsetOf(tail), whole = Cut("log.1.1", offset);
        LogDamage damage = Assert.Throws<LogDamage>(() => reader.Read(tail, ref buffer));
        AssertNames(damage, "log.1.1", whole, offset);
    }

    /// <summary>What is left of a cut log can be read, for whoever repairs it.</summary>
    [Fact]
    public void Scan_ThatGoesOnOverACutFile_GivesThePagesBeforeAndHalts()
    {
        List<LoggedRecord> written;
        using (Primary primary = Primary.Start(_fs, Dir)) written = primary.Fill(3);
        Cut("log.1.1", PageAt(written[2]));
        using LogScan scan = LogScan.Open(_fs, Dir, InstanceDirectory.TryRead(_fs, Dir)!, new ScanOptions { GoesOn = true });
        int pages = 0;
        while (scan.Next()) pages++;
        Assert.Equal(2, pages);
        Assert.Equal($"{Dir}/log.1.1", Assert.IsType<ReadVerdict.Halt>(scan.Verdict).Damage.File);
    }

    /// <summary>The length takes no space: a disk that has room for one step of a segment begins it.</summary>
    [Fact]
    public void Start_DiskSmallerThanASegment_BeginsOneOfFullLength()
    {
        var disk = new SimulatedFileSystem(3) { CapacityBytes = 1 << 20 };
        disk.MakeDirectory("/data");
        LogOptions options = Primary.Small with { SegmentBytes = 64 << 20, AllocateStepBytes = 64 << 10 };
        using Primary primary = Primary.Start(disk.ForProcess("a"), "/data/log", options);
        LogSegment segment = Assert.Single(primary.Log.Chain.Segments);
        using IFile file = disk.Open(segment.Path, FileUse.Read);
        Assert.Equal((64 << 20, 64 << 20), (file.Length, segment.Header.FileBytes));
        Assert.InRange(file.BytesTaken, 1, 128 << 10);
    }

    /// <summary>Every file that has a segment's name has its length, before each operation of a life with records of all sizes.</summary>
    [Fact]
    public void Run_EveryMoment_NamedFilesHaveTheLengthThatTheirHeadersState()
    {
        var life = new TruncationScenario(rounds: 12);
        int seen = 0;
        var lengths = new HashSet<long>();
        life.Before = _ =>
        {
            foreach (string path in life.Disk.Files())
            {
                if (SegmentFileName.TryParse(Path.GetFileName(path)) is not { } name) continue;
                byte[] content = life.Disk.ReadAll(path);
                SegmentHeader header = SegmentHeader.Read(content.AsSpan(0, SegmentHeader.Bytes), path, name, Primary.Uuid, 0);
                Assert.Equal(header.FileBytes, content.Length);
                lengths.Add(content.Length);
                seen++;
            }
        };
        life.Run();
        Assert.Null(life.Death);
        Assert.True(seen > 500 && lengths.Count > 1, $"{seen} files of {lengths.Count} lengths");
    }

    /// <summary>A log of a format that stated no length is refused by file and format, before a claim, and stays as it was.</summary>
    [Fact]
    public void Check_LogOfFormat1_IsRefusedAndUntouched()
    {
        foreach (string path in Directory.GetFiles(Path.Combine(AppContext.BaseDirectory, "Format", "Format1")))
        {
            string name = Path.GetFileName(path);
            _fs.Create($"{Dir}/{name}").Dispose();
            _fs.SetContent($"{Dir}/{name}", File.ReadAllBytes(path));
        }
        MemoryFileSystem before = _fs.Copy();
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        LogDamage refused = Assert.Throws<LogDamage>(() => LogStart.Check(new LogLocation(_fs, Dir, identity)));
        Assert.Matches("log\\.\\d\\.1 .*log format 2, found 1: written by an older version", refused.Message);
        Assert.Equal(before.List(Dir), _fs.List(Dir));
        Assert.All(_fs.List(Dir), name => Assert.Equal(before.Content($"{Dir}/{name}"), _fs.Content($"{Dir}/{name}")));
    }

    private static long PageAt(LoggedRecord record) => SegmentHeader.Bytes + (long)(record.Lsn.Value & ~4_095ul);

    /// <summary>Cuts or extends a file behind the back of the log, and returns its length before.</summary>
    private long Cut(string name, long length)
    {
        byte[] content = _fs.Content($"{Dir}/{name}");
        long whole = content.Length;
        Array.Resize(ref content, (int)length);
        _fs.SetContent($"{Dir}/{name}", content);
        return whole;
    }

    private void AssertHalts(string name, long whole, long length)
    {
        Assert.Equal(whole, Cut(name, length));
        var location = new LogLocation(_fs, Dir, InstanceDirectory.TryRead(_fs, Dir)!);
        AssertNames(Assert.Throws<LogDamage>(() => LogStart.Check(location)), name, whole, length);
        AssertNames(Assert.Throws<LogDamage>(() => Primary.Start(_fs, Dir, replica: "r1")), name, whole, length);
    }

    private static void AssertNames(LogDamage damage, string name, long whole, long length)
    {
        Assert.Equal($"{Dir}/{name}", damage.File);
        Assert.Contains($"a file of {whole} bytes", damage.Message, StringComparison.Ordinal);
        Assert.Contains($"one of {length} bytes", damage.Message, StringComparison.Ordinal);
    }
}
