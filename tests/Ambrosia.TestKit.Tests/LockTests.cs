using Ambrosia.Log;

namespace Ambrosia.TestKit.Tests;

public sealed class LockTests
{
    private readonly SimulatedFileSystem disk = new();

    public LockTests() => disk.MakeDirectory("/data");

    [Fact]
    public void Lock_HeldByAnother_IsRefusedUntilItDies()
    {
        SimulatedProcess first = disk.ForProcess("first"), second = disk.ForProcess("second");
        Assert.NotNull(first.TryLock("/data/lock"));
        Assert.Null(second.TryLock("/data/lock"));
        first.Kill();
        Assert.NotNull(second.TryLock("/data/lock"));
    }

    [Fact]
    public void Lock_Disposed_IsFreeAndMayBeDisposedTwice()
    {
        IFileLock held = disk.ForProcess("first").TryLock("/data/lock")!;
        held.Dispose();
        IFileLock next = disk.ForProcess("second").TryLock("/data/lock")!;
        held.Dispose();
        Assert.Null(disk.ForProcess("first").TryLock("/data/lock"));
        next.Dispose();
    }

    [Fact]
    public void TryLock_OfOpenFiles_SharedTogetherExclusiveAlone()
    {
        disk.WriteAll("/data/file", [1]);
        SimulatedProcess first = disk.ForProcess("first"), second = disk.ForProcess("second");
        IFile reader = first.Open("/data/file", FileUse.Read), other = second.Open("/data/file", FileUse.Read),
            writer = second.Open("/data/file", FileUse.ReadWrite);
        Assert.True(reader.TryLock(FileLockKind.Shared));
        Assert.True(other.TryLock(FileLockKind.Shared));
        Assert.False(writer.TryLock(FileLockKind.Exclusive));
        Assert.Null(second.TryLock("/data/file"));
        other.Unlock();
        first.Kill();
        Assert.True(writer.TryLock(FileLockKind.Exclusive));
        Assert.False(other.TryLock(FileLockKind.Shared));
        writer.Dispose();
        Assert.True(other.TryLock(FileLockKind.Shared));
    }

    [Fact]
    public void Lock_SameProcessTwice_IsRefused()
    {
        using IFileLock? held = disk.TryLock("/data/lock");
        Assert.Null(disk.TryLock("/data/lock"));
    }

    [Fact]
    public void Lock_FileUnlinkedAndMadeAgain_BothAreHeldAndOneKnows()
    {
        SimulatedProcess first = disk.ForProcess("first"), second = disk.ForProcess("second");
        IFileLock old = first.TryLock("/data/lock")!;
        second.Delete("/data/lock");
        IFileLock young = second.TryLock("/data/lock")!;
        Assert.False(old.IsStillNamed);
        Assert.True(young.IsStillNamed);
    }

    [Fact]
    public void Lock_FileRenamed_GoesWithTheFile()
    {
        using IFileLock? held = disk.TryLock("/data/lock");
        disk.Rename("/data/lock", "/data/other");
        Assert.Null(disk.ForProcess("second").TryLock("/data/other"));
        Assert.NotNull(disk.ForProcess("second").TryLock("/data/lock"));
    }

    [Fact]
    public void PowerLoss_LocksHeld_AllAreFree()
    {
        disk.WriteAll("/data/lock", []);
        Assert.NotNull(disk.ForProcess("first").TryLock("/data/lock"));
        disk.PowerLoss(1);
        Assert.NotNull(disk.ForProcess("second").TryLock("/data/lock"));
    }

    [Fact]
    public void WaitForLock_WouldWait_SaysThatASimulationMustNot()
    {
        Assert.Null(disk.WaitForLock("/data/lock", default));
        disk.ForProcess("first").TryLock("/data/lock");
        Assert.Throws<NotSupportedException>(() => disk.WaitForLock("/data/lock", default));
        disk.ForProcess("first").Kill();
        Assert.NotNull(disk.WaitForLock("/data/lock", default));
    }
}
