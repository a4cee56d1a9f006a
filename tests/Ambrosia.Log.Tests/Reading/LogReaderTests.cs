using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

public sealed class LogReaderTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Read_WrittenMeanwhile_GoesPastTheCache_AndWhatWasThereBeforeDoesNot()
    {
        var pastCache = new List<string>();
        var files = new InterceptedFiles(_fs) { GoesPastCache = path => { pastCache.Add(path); return true; } };
        using Primary primary = Primary.Start(files, Dir);
        List<LoggedRecord> written = primary.Fill(60);
        LogChain chain = primary.Log.Chain;
        Assert.True(chain.Segments.Length >= 3, "one before, one meanwhile, and one in which every reader goes past the cache");
        pastCache.Clear();

        using var reader = new LogReader(files, Dir, primary.Identity, chain) { LiveFrom = chain.Segments[1].FirstLsn };
        reader.Expect(primary.Writer.Durable);
        var read = new List<LoggedRecord>();
        ReadTo(reader, chain.Segments[0].FirstLsn, chain.Segments[1].FirstLsn, read);
        Assert.Empty(pastCache);
        ReadTo(reader, chain.Segments[1].FirstLsn, primary.Writer.Durable, read);
        Assert.Contains(chain.Segments[1].Path, pastCache);
        Assert.Equal(written, read);
    }

    /// <summary>
    /// Who reads one page is not taken for one who reads all; who reads on has what follows on its way, once and no more.
    /// </summary>
    [Fact]
    public void Read_PageAfterPage_SaysAheadWhatIsRead()
    {
        var expected = new List<(string Path, long Offset, long Bytes)>();
        var files = new InterceptedFiles(_fs) { ExpectsReads = (path, offset, bytes) => expected.Add((path, offset, bytes)) };
        using Primary primary = Primary.Start(files, Dir);
        primary.Fill(60);
        LogChain chain = primary.Log.Chain;
        LogSegment segment = chain.Segments[0];
        using var reader = new LogReader(files, Dir, primary.Identity, chain, holds: true);
        reader.Expect(primary.Writer.Durable);
        var buffer = new PageBuffer();
        Assert.Equal(ReadStatus.Page, reader.Read(segment.FirstLsn, ref buffer));
        Assert.Empty(expected);

        ReadTo(reader, segment.FirstLsn, chain.Segments[1].FirstLsn, []);
        Assert.NotEmpty(expected);
        Assert.All(expected, each => Assert.Equal(segment.Path, each.Path));
        for (int i = 1; i < expected.Count; i++) Assert.Equal(expected[i - 1].Offset + expected[i - 1].Bytes, expected[i].Offset);
        long end = LogSegment.HeaderBytes + (long)(chain.Segments[1].FirstLsn - segment.FirstLsn);
        Assert.Equal(end, expected[^1].Offset + expected[^1].Bytes);

        expected.Clear();
        ReadTo(reader, segment.FirstLsn, chain.Segments[1].FirstLsn, []); // it is there already
        Assert.Empty(expected);
    }

    private static void ReadTo(LogReader reader, Lsn from, Lsn to, List<LoggedRecord> into)
    {
        var buffer = new PageBuffer();
        for (Lsn at = from; at < to; at = buffer.Next)
        {
            Assert.Equal(ReadStatus.Page, reader.Read(at, ref buffer));
            LogContent.Split(buffer.Records, buffer.RecordsLsn, into);
        }
    }
}
