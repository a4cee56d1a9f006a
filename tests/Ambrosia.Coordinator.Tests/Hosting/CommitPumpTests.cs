using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>The pump that commits, where a commit has failed and the process is about to end.</summary>
public sealed class CommitPumpTests
{
    /// <summary>Other threads go on for a moment, and must not commit what is failed: the process ends by its code.</summary>
    [Fact]
    public void Commit_BehindALostFence_DoesNothingMore()
    {
        using var log = new OpenedLog();
        log.Append(new TrimRecord([]));
        log.Commit();
        var ends = new List<int>();
        using var pump = new CommitPump((code, _) => ends.Add(code), new PumpProgress(new FakeTime()))
        {
            SpaceWanted = () => log.Writer.PrepareSpace(),
        };
        pump.Start(log.Committer);
        Assert.NotNull(Fence.TryClaim(log.Disk, OpenedLog.Directory, log.Identity, log.Epoch));
        log.Append(new TrimRecord([]));
        pump.Commit(drained: true); // a place is prepared for the page
        pump.Commit(drained: true);
        Assert.Equal([ExitCodes.NotPrimary], ends);
        pump.Commit(drained: true);
        pump.WaitForRoom(CancellationToken.None);
        Assert.Equal([ExitCodes.NotPrimary], ends);
    }

    /// <summary>A fence that cannot be looked at for want of memory or descriptors says nothing of the disk: 71, and not 74.</summary>
    [Theory]
    [InlineData(FileFault.TooManyFiles, ExitCodes.System)]
    [InlineData(FileFault.InputOutput, ExitCodes.Io)]
    public void Commit_WhoseFenceCannotBeLookedAt_EndsByWhatWasRefused(FileFault fault, int code)
    {
        using var log = new OpenedLog();
        log.Append(new TrimRecord([]));
        log.Commit();
        var ends = new List<int>();
        using var pump = new CommitPump((ended, _) => ends.Add(ended), new PumpProgress(new FakeTime()))
        {
            SpaceWanted = () => log.Writer.PrepareSpace(),
        };
        pump.Start(log.Committer);
        log.Append(new TrimRecord([]));
        pump.Commit(drained: true); // a place is prepared for the page
        log.Disk.Faults.FailNth(1, fault, where: static o => o.Kind == FileOperationKind.Exists);
        pump.Commit(drained: true);
        Assert.Equal([code], ends);
    }
}
