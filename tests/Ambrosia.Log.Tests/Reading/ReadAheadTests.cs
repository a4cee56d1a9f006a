using Ambrosia.Log.Files;
using Ambrosia.Log.Reading;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

public sealed class ReadAheadTests
{
    private const int Written = 8 << 10;

    private readonly List<(long Offset, long Bytes)> _asked = [];
    private readonly IFile _file;

    public ReadAheadTests()
    {
        var files = new InterceptedFiles(new SimulatedFileSystem(seed: 1)) { ExpectsReads = (_, offset, bytes) => _asked.Add((offset, bytes)) };
        _file = files.Create("/a");
        _file.SetLength(64 << 20);
        _file.Write(new byte[Written], 0);
    }

    [Fact]
    public void From_WhereSomethingWasWritten_AsksForThatAlone()
    {
        new ReadAhead(_file).From(4_096);
        Assert.Equal([(4_096, Written - 4_096)], _asked);
    }

    /// <summary>What was only set aside would be taken for data once it were in the cache.</summary>
    [Fact]
    public void From_WhereNothingWasWritten_AsksForNothing()
    {
        new ReadAhead(_file).From(Written);
        Assert.Empty(_asked);
    }
}
