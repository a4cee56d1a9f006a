using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A log whose tail is written while a scan judges it: what was missing when the page was looked at, and stood there when the search behind
/// it came by, is no damage. Each moment is set by hand.
/// </summary>
public sealed class LiveTailTests
{
    private const string Dir = "/log";
    private const int SearchBytes = 64 << 10; // of one read behind a missing page
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Next_PagesWrittenWhileTheTailIsJudged_AreRead()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = [primary.Append(new byte[10])];
        primary.Commit();
        List<LoggedRecord> read = Scan(() =>
        {
            for (int i = 0; i < 3; i++) // the last one states the first
            {
                written.Add(primary.Append(new byte[20 + i]));
                primary.Commit();
            }
        }, out ReadVerdict verdict);
        Assert.Equal(written, read);
        Assert.IsType<ReadVerdict.CleanEnd>(verdict);
    }

    [Fact]
    public void Next_SpanningRecordCompletedWhileTheTailIsJudged_IsReadFromItsBeginning()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = [primary.Append(new byte[10])];
        primary.Commit();
        written.Add(primary.AppendSpanning(new byte[50_000]));
        CommitGroup group = primary.Next()!;
        group.Write(0); // its first page is there
        List<LoggedRecord> read = Scan(() =>
        {
            for (int i = 1; i < group.PageCount; i++) group.Write(i);
            group.Flush();
            group.CheckFence();
            primary.Writer.Complete(group);
            written.Add(primary.Append([1]));
            primary.Commit();
        }, out ReadVerdict verdict);
        Assert.Equal(written, read);
        Assert.IsType<ReadVerdict.CleanEnd>(verdict);
    }

    /// <summary>In this control pages behind state more, and the missing page does not come.</summary>
    [Fact]
    public void Next_PageMissingForGood_Halts()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        LoggedRecord first = primary.Append(new byte[10]);
        primary.Commit();
        Lsn missing = primary.Writer.Durable;
        List<LoggedRecord> read = Scan(() =>
        {
            for (int i = 0; i < 3; i++)
            {
                primary.Append(new byte[20 + i]);
                primary.Commit();
            }
            string path = $"{Dir}/log.1.1";
            byte[] bytes = _fs.Content(path);
            bytes.AsSpan(SegmentHeader.Bytes + (int)missing.Value, 4_096).Clear();
            _fs.SetContent(path, bytes);
        }, out ReadVerdict verdict);
        Assert.Equal([first], read);
        Assert.Equal(missing, Assert.IsType<ReadVerdict.Halt>(verdict).At);
    }

    /// <summary>Reads the log; <paramref name="meanwhile"/> happens once, just before the first look behind a missing page.</summary>
    private List<LoggedRecord> Scan(Action meanwhile, out ReadVerdict verdict)
    {
        int looks = 0;
        var files = new InterceptedFiles(_fs)
        {
            BeforeRead = (_, bytes) =>
            {
                if (bytes == SearchBytes && looks++ == 0) meanwhile();
            },
        };
        var records = new List<LoggedRecord>();
        var spanning = new SpanningParts();
        using LogScan scan = LogScan.Open(files, Dir, InstanceDirectory.TryRead(_fs, Dir)!);
        while (scan.Next()) spanning.Add(scan.Page, records);
        Assert.True(looks > 0, "nothing happened meanwhile");
        verdict = scan.Verdict!;
        return records;
    }
}
