using Ambrosia.Log.Commit;
using Ambrosia.Log.Files;
using Ambrosia.Log.Pages;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// What the operating system does that lasts: errors that belong to a file and are told once to each opening, locks that want another
/// opening, sectors that stay unreadable.
/// </summary>
public sealed class LastingFaultTests : IDisposable
{
    private readonly string _root = Directory.CreateDirectory(
        Path.Combine(Directory.Exists("/dev/shm") ? "/dev/shm" : Path.GetTempPath(), $"ambrosia-lasting-{Guid.NewGuid():N}")).FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    /// <summary>
    /// The kernel could not write a page back. The space pump's flush of zeros is told first, and must not take the error from the
    /// committer's.
    /// </summary>
    [Fact]
    public void Flush_SpacePumpWasToldOfTheFailedWriteBack_FailsToo()
    {
        var kernel = new HostileKernel();
        try
        {
            using Primary primary = Primary.Start(new PosixFileSystem(kernel), _root, TruncationScenario.Options with
            {
                SegmentBytes = 256 << 10, ZeroWindowBytes = 32 << 10
            });
            for (int i = 0; i < 3; i++) primary.Append(new byte[7_000]); // more than half of the window: there are zeros to write
            CommitGroup group = primary.Next()!;
            group.Write();
            (Exception? pump, Exception? committer) = FlushBesideThePump(kernel, primary, group.Flush, "log.");
            Assert.IsType<IOException>(pump);
            Assert.IsType<IOException>(committer);
            Assert.Throws<InvalidOperationException>(group.CheckFence);
        }
        finally
        {
            kernel.Die();
        }
    }

    /// <summary>A second flush through the same opening would succeed and mean nothing.</summary>
    [Fact]
    public void Flush_AfterOneThatFailed_Fails()
    {
        var kernel = new HostileKernel();
        using IFile file = new PosixFileSystem(kernel).Create(Path.Combine(_root, "a"));
        using IFile other = new PosixFileSystem(kernel).Open(Path.Combine(_root, "a"), FileUse.ReadWrite);
        file.Write(new byte[10], 0);
        kernel.FailWriteBack(static _ => true);
        Assert.Throws<IOException>(file.Flush);
        Assert.Throws<IOException>(file.Flush);
        Assert.Throws<IOException>(other.Flush);
    }

    [Fact]
    public void Life_LocksNeedAnOpeningThatMayWrite_IsLikeAnyOther()
    {
        var life = new TruncationScenario(rounds: 9);
        foreach (string replica in new[] { "r0", "r1" })
        {
            var kernel = new HostileKernel { LocksNeedWriting = true };
            try
            {
                life.Serve(new PosixFileSystem(kernel), _root, replica);
            }
            finally
            {
                kernel.Die();
            }
        }
        life.Check(new PosixFileSystem(), _root, "locks as NFS has them");
    }

    /// <summary>No file system is kinder than NFS, so that nothing comes to rest on one that is.</summary>
    [Fact]
    public void TryLock_ExclusiveThroughAReadOnlyOpening_Fails()
    {
        var disk = new SimulatedFileSystem();
        disk.MakeDirectory(_root);
        foreach (IFileSystem files in new IFileSystem[] { new PosixFileSystem(), disk })
        {
            string path = Path.Combine(_root, "locked");
            files.Create(path).Dispose();
            using IFile reader = files.Open(path, FileUse.Read);
            Assert.True(reader.TryLock(FileLockKind.Shared));
            reader.Unlock();
            Assert.Equal(9, Assert.ThrowsAny<IOException>(() => reader.TryLock(FileLockKind.Exclusive)).HResult);
        }
    }

    /// <summary>Runs a step that flushes, and the space pump right before the kernel does; returns how each of them ended.</summary>
    private static (Exception? Pump, Exception? Step) FlushBesideThePump(HostileKernel kernel, Primary primary, Action step, string files)
    {
        Exception? pump = null;
        kernel.BeforeFlush = name =>
        {
            if (!name.StartsWith(files, StringComparison.Ordinal)) return;
            kernel.BeforeFlush = static _ => { };
            kernel.FailWriteBack(each => each == name);
            var thread = new Thread(() => pump = Record.Exception(() =>
            {
                while (primary.Writer.PrepareSpace()) { }
            }));
            thread.Start();
            thread.Join();
        };
        Exception? ended = Record.Exception(step);
        return (pump, ended);
    }
}
