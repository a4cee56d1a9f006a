using Ambrosia.Coordinator.Primary;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A disk that does not answer under one thread of a primary: others must be able to see it.</summary>
public sealed class HungDiskTests
{
    private readonly SimulatedFileSystem _disk = new();
    private readonly Node _primary;

    public HungDiskTests()
    {
        _primary = new Node(_disk, new FakeTime(), new LogOptions { SegmentBytes = 256 << 10, PageBytes = 16 << 10 });
        _primary.Commit();
    }

    [Fact]
    public void CheckFence_SpacePumpStandsStill_BeatsNoMoreUntilItComesBack()
    {
        ulong first = BeatsOf(2);
        Assert.Equal(first + 3, BeatsOf(3));
        _primary.Parts.Space.Enter(); // it stands in its write from here on
        ulong before = BeatsOf(1); // it may have begun right now
        Assert.Equal(before, BeatsOf(20));
        _primary.Parts.Space.Step();
        Assert.True(BeatsOf(1) > before);
    }

    /// <summary>
    /// What lasts longer than the limit leads to a take-over, where a sound standby looks at the heartbeat. Before it has, and of a primary
    /// whose disk answers, nobody takes over.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void FindHanging_SpacePumpOfThePrimaryHangs_IsFoundAfterTheLimit(bool hangs)
    {
        var options = _primary.InputsOf("r1").Options;
        IFileSystem standby = _disk.ForProcess("standby");
        InstanceIdentity identity = InstanceDirectory.TryRead(standby, Node.Directory)!;
        var monitor = new TakeOverMonitor(standby, identity, options);
        BeatsOf(1);
        Assert.IsType<ClaimResult.Held>(monitor.Try());
        TimeSpan now = TimeSpan.FromMinutes(1), step = options.HangLimit / 16, until = now + options.HangLimit * 4;
        TimeSpan? found = null;
        if (hangs) _primary.Parts.Space.Enter();
        for (TimeSpan began = now; found is null && now < until; now += step)
        {
            BeatsOf(1);
            if (monitor.FindHanging(now) is not null) found = now - began;
        }
        if (!hangs)
        {
            Assert.Null(found);
            return;
        }
        Assert.True(found >= options.HangLimit && found <= options.HangLimit + step * 3, $"found after {found}");
        var claimed = Assert.IsType<ClaimResult.Claimed>(monitor.TryTakeOver(new Epoch(1)));
        Assert.Throws<FenceLostException>(() => BeatsOf(1));
        claimed.PrimaryLock.Dispose();
    }

    /// <summary>The control: a pump that is busy, and comes back each time, does not look as if the disk hung.</summary>
    [Fact]
    public void CheckFence_SpacePumpIsBusy_BeatsOn()
    {
        for (int i = 0; i < 20; i++)
        {
            ulong before = BeatsOf(0);
            _primary.Parts.Space.Enter();
            Assert.Equal(before + 1, BeatsOf(1));
            _primary.Parts.Space.Step();
        }
    }

    /// <summary>Looks at the fence so many times, and returns how often the primary has beaten since its take-over.</summary>
    private ulong BeatsOf(int looks)
    {
        for (int i = 0; i < looks; i++) _primary.Parts.CheckFence();
        string path = $"{Node.Directory}/primary.1.r0";
        return PrimaryLock.ReadBeat(_disk.ForProcess("look"), path)!.Value;
    }
}
