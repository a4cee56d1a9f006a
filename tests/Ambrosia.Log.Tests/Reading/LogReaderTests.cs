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
