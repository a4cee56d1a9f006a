using System.Buffers.Binary;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Whose heartbeat a replica that waits looks at, where a claimer that has lost stands still with its lock.</summary>
public sealed class TakeOverMonitorTests
{
    private const string Directory = "/data/self";

    private static readonly CoordinatorOptions s_options = new()
    {
        LogDirectory = Directory, Instance = "self", Replica = "r2", Catalog = CatalogPlace.OfDirectory("/data/catalog"),
    };

    private readonly SimulatedFileSystem _disk = new();

    /// <summary>
    /// The loser was there first, and never beats: it is not taken for a primary in a long take-over, nor the primary, which is well, for
    /// one that hangs. When the primary stands still, that is seen within the limit.
    /// </summary>
    [Fact]
    public void FindHanging_LoserWasSeenFirst_GoesByThePrimarysHeartbeat()
    {
        IFileSystem primary = _disk.ForProcess("r0"), waiter = _disk.ForProcess("r2");
        primary.CreateDirectory("/data");
        InstanceIdentity identity = InstanceDirectory.Create(
            primary, Directory, "self", 0, Guid.Parse("11111111-2222-3333-4444-555555555555"), 1, "r0", ICrashPoints.None);
        using IFileLock loser = _disk.ForProcess("a").TryLock($"{Directory}/primary.1.a")!;
        using IFileLock own = primary.TryLock($"{Directory}/primary.1.r0")!;
        Assert.NotNull(Fence.TryClaim(primary, Directory, identity, new Epoch(0)));
        var monitor = new TakeOverMonitor(waiter, identity, s_options);
        Assert.EndsWith("primary.1.a", Assert.IsType<ClaimResult.Held>(monitor.Try()).LockPath);
        TimeSpan now = TimeSpan.FromMinutes(1), step = s_options.HangLimit / 16;
        byte[] beat = new byte[sizeof(ulong)];
        for (ulong beats = 1; beats < 16 * 20; beats++, now += step) // longer than a claimer that has not beaten is waited for
        {
            BinaryPrimitives.WriteUInt64LittleEndian(beat, beats);
            own.File.Write(beat, 0);
            Assert.Null(monitor.FindHanging(now));
        }
        TimeSpan stood = now;
        while (monitor.FindHanging(now) is null)
        {
            Assert.True(now - stood <= s_options.HangLimit + step, "the primary hangs, and it is not seen");
            now += step;
        }
        Assert.IsType<ClaimResult.Claimed>(monitor.TryTakeOver(new Epoch(1))).PrimaryLock.Dispose();
    }

    /// <summary>The sector of the heartbeat cannot be read: the lock alone tells of that primary, and whoever waits goes on.</summary>
    [Fact]
    public void FindHanging_HeartbeatThatCannotBeRead_SaysNothing()
    {
        IFileSystem primary = _disk.ForProcess("r0");
        primary.CreateDirectory("/data");
        InstanceIdentity identity = InstanceDirectory.Create(
            primary, Directory, "self", 0, Guid.Parse("11111111-2222-3333-4444-555555555555"), 1, "r0", ICrashPoints.None);
        using IFileLock own = primary.TryLock($"{Directory}/primary.1.r0")!;
        own.File.Write(new byte[sizeof(ulong)], 0);
        Assert.NotNull(Fence.TryClaim(primary, Directory, identity, new Epoch(0)));
        var monitor = new TakeOverMonitor(_disk.ForProcess("r2"), identity, s_options);
        Assert.IsType<ClaimResult.Held>(monitor.Try());
        _disk.MakeUnreadable($"{Directory}/primary.1.r0", 0, 1);
        TimeSpan now = TimeSpan.FromMinutes(1);
        for (int looks = 0; looks < 16 * 20; looks++, now += s_options.HangLimit / 16) Assert.Null(monitor.FindHanging(now));
    }
}
