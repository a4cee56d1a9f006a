using Ambrosia.Log.Files;

namespace Ambrosia.TestKit.Tests;

public sealed class LockTests
{
    private readonly SimulatedFileSystem _disk = new();

    public LockTests() => _disk.MakeDirectory("/data");

    [Fact]
    public void Lock_HeldByAnother_IsRefusedUntilItDies()
    {
        SimulatedProcess first = _disk.ForProcess("first"), second = _disk.ForProcess("second");
        Assert.NotNull(first.TryLock("/data/lock"));
        Assert.Null(second.TryLock("/data/lock"));
        first.Kill();
        Assert.NotNull(second.TryLock("/data/lock"));
    }

    [Fact]
    public void Lock_Disposed_IsFreeAndMayBeDisposedTwice()
    {
        IFileLock held = _disk.ForProcess("first").TryLock("/data/lock")!;
        held.Dispose();
        IFileLock next = _disk.ForProcess("second").TryLock("/data/lock")!;
        held.Dispose();
        Assert.Null(_disk.ForProcess("first").TryLock("/data/lock"));
        next.Dispose();
    }

    [Fact]
    public void TryLock_OfOpenFiles_SharedTogetherExclusiveAlone()
    {
        _disk.WriteAll("/data/file", [1]);
        SimulatedProcess first = _disk.ForProcess("first"), second = _disk.ForProcess("second");
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
        using IFileLock? held = _disk.TryLock("/data/lock");
        Assert.Null(_disk.TryLock("/data/lock"));
    }

    [Fact]
    public void Lock_FileUnlinkedAndMadeAgain_BothAreHeldAndOneKnows()
    {
        SimulatedProcess first = _disk.ForProcess("first"), second = _disk.ForProcess("second");
        IFileLock old = first.TryLock("/data/lock")!;
        second.Delete("/data/lock");
        IFileLock young = second.TryLock("/data/lock")!;
        Assert.False(old.IsStillNamed);
        Assert.True(young.IsStillNamed);
    }

    [Fact]
    public void Lock_FileRenamed_GoesWithTheFile()
    {
        using IFileLock? held = _disk.TryLock("/data/lock");
        _disk.Rename("/data/lock", "/data/other");
        Assert.Null(_disk.ForProcess("second").TryLock("/data/other"));
        Assert.NotNull(_disk.ForProcess("second").TryLock("/data/lock"));
    }

    [Fact]
    public void PowerLoss_LocksHeld_AllAreFree()
    {
        _disk.WriteAll("/data/lock", []);
        Assert.NotNull(_disk.ForProcess("first").TryLock("/data/lock"));
        _disk.PowerLoss(1);
        Assert.NotNull(_disk.ForProcess("second").TryLock("/data/lock"));
    }

    [Fact]
    public void WaitForLock_WouldWait_SaysThatASimulationMustNot()
    {
        Assert.Null(_disk.WaitForLock("/data/lock", default));
        _disk.ForProcess("first").TryLock("/data/lock");
        Assert.Throws<NotSupportedException>(() => _disk.WaitForLock("/data/lock", default));
        _disk.ForProcess("first").Kill();
        Assert.NotNull(_disk.WaitForLock("/data/lock", default));
    }
}
