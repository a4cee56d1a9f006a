using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
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
