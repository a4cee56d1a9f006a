using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What a view may begin with stays until its app has come, however long that takes.</summary>
public sealed class ViewStartTests : IDisposable
{
    private readonly OpenedLog _log = new();

    public void Dispose() => _log.Dispose();

    /// <summary>Without a checkpoint it begins where the log does.</summary>
    [Fact]
    public void New_LogWithoutACheckpoint_HoldsItsBeginning()
    {
        byte[] run = Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 50)]);
        Assert.True(_log.Appender.TryAppendRun(RecordKind.Run, RunHeader.Read(run), run.AsSpan(RunHeader.Bytes), static _ => { }));
        _log.Commit();
        using var follower = new LogFollower(_log.Disk, OpenedLog.Directory, _log.Identity);
        while (follower.Step()) { }
        string beginning = Assert.Single(_log.Chain.Segments).Path;
        using (new ViewStart(_log.Location, follower, hold: null, static _ => { })) Assert.False(MayBeRemoved(beginning));
        Assert.True(MayBeRemoved(beginning));
    }

    /// <summary>Whoever removes a segment takes its lock for itself before.</summary>
    private bool MayBeRemoved(string segment)
    {
        using IFile file = _log.Disk.Open(segment, FileUse.ReadWrite);
        return file.TryLock(FileLockKind.Exclusive);
    }
}
