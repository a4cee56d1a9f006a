using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

public sealed class PosixFileSystemTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly PosixFileSystem _fs = new();

    [Fact]
    public void File_WrittenAtPositions_IsReadBack()
    {
        using IFile file = _fs.Create(At("a"));
        file.Write([1, 2, 3], 10);
        file.Flush();
        Assert.Equal(13, file.Length);
        byte[] bytes = new byte[20];
        Assert.Equal(13, file.Read(bytes, 0));
        Assert.Equal([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3], bytes[..13]);
        Assert.Equal(0, file.Read(bytes, 13));
        file.Allocate(0, 1 << 20);
        Assert.Equal(13, file.Length);
        file.SetLength(11);
        Assert.Equal(11, file.Length);
        file.DropCache();
        Assert.Equal(1, file.Read(bytes, 10));
    }

    [Fact]
    public void File_LongerThanWhatWasWritten_TakesThatAlone()
    {
        using IFile file = _fs.Create(At("a"));
        file.SetLength(64 << 20);
        file.Write([.. Enumerable.Repeat((byte)7, 4_096)], 1 << 20);
        file.Flush();
        Assert.Equal(64 << 20, file.Length);
        Assert.InRange(file.BytesTaken, 4_096, 2 << 20);
        Assert.InRange(file.NextData(0).Start, 4_096, 1 << 20); // in between are zeros
        FileStretch written = file.NextData(1 << 20);
        Assert.Equal(1 << 20, written.Start);
        Assert.InRange(written.End, (1 << 20) + 4_096, 2 << 20);
        Assert.Equal(new FileStretch(64 << 20, 64 << 20), file.NextData(8 << 20));
        Assert.Equal(new FileStretch(64 << 20, 64 << 20), file.NextData(64 << 20));
    }

    /// <summary>Space that was only set aside would count as data where the kernel has read it ahead into the cache.</summary>
    [Fact]
    public void NextData_BehindPagesThatWereRead_IsNotWhatWasOnlySetAside()
    {
        const int bytes = 32 << 20, written = 1 << 20;
        using IFile file = _fs.Create(At("a"));
        file.SetLength(bytes);
        file.Allocate(0, bytes);
        file.Write([.. Enumerable.Repeat((byte)7, written)], 0);
        file.Flush();
        file.DropCache();
        FileStretch before = file.NextData(written);
        byte[] page = new byte[4_096];
        using IFile opened = _fs.Open(At("a"), FileUse.ReadPages);
        for (int at = 0; at <= written; at += page.Length) opened.Read(page, at);
        Assert.InRange(opened.NextData(written + page.Length).Start, before.Start, bytes);
    }

    [Fact]
    public void Create_TakenName_Throws()
    {
        _fs.Create(At("a")).Dispose();
        Assert.Throws<FileExistsException>(() => _fs.Create(At("a")));
    }

    [Fact]
    public void Open_MissingFile_ThrowsWithPathAndErrno()
    {
        var e = Assert.Throws<FileNotFoundException>(() => _fs.Open(At("a"), FileUse.Read));
        Assert.Contains(At("a"), e.Message, StringComparison.Ordinal);
        Assert.Contains("errno 2", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Open_Directory_IsAnIOExceptionWithErrno()
    {
        var e = Assert.ThrowsAny<IOException>(() => _fs.Open(_directory.Path, FileUse.ReadWrite));
        Assert.Contains("errno 21", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Write_ReadOnlyFile_Throws()
    {
        _fs.Create(At("a")).Dispose();
        using IFile file = _fs.Open(At("a"), FileUse.Read);
        Assert.ThrowsAny<IOException>(() => file.Write([1], 0));
    }

    [Fact]
    public void Names_RenamedLinkedAndRemoved_BehaveAsTheSeamSays()
    {
        _fs.Create(At("a")).Dispose();
        _fs.Create(At("b")).Dispose();
        Assert.False(_fs.TryRenameNew(At("a"), At("b")));
        Assert.True(_fs.TryRenameNew(At("a"), At("c")));
        Assert.False(_fs.TryLink(At("c"), At("b")));
        Assert.True(_fs.TryLink(At("c"), At("a")));
        Assert.Equal(["a", "b", "c"], _fs.List(_directory.Path));
        _fs.Rename(At("c"), At("b"));
        Assert.Throws<FileNotFoundException>(() => _fs.Rename(At("x"), At("y")));
        Assert.Throws<FileNotFoundException>(() => _fs.TryRenameNew(At("x"), At("y")));
        Assert.Throws<FileNotFoundException>(() => _fs.TryLink(At("x"), At("y")));
        Assert.True(_fs.Exists(At("a")));
        _fs.Delete(At("a"));
        _fs.Delete(At("a"));
        Assert.False(_fs.Exists(At("a")));
        _fs.FlushDirectory(_directory.Path);
        Assert.Empty(_fs.List(At("no such directory")));
        Assert.True(_fs.FreeBytes(_directory.Path) > 0);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(38)]
    [InlineData(95)]
    public void TryName_WhereThereAreNoLinks_RenamesAndReplacesNothing(int errno)
    {
        _fs.Create(At("new")).Dispose();
        _fs.Create(At("second")).Dispose();
        IFileSystem files = new InterceptedFiles(_fs) { LinkError = errno }, broken = new InterceptedFiles(_fs) { LinkError = 5 };
        Assert.True(files.TryName(At("new"), At("name")));
        Assert.False(files.TryName(At("second"), At("name")));
        Assert.Equal(["name", "second"], _fs.List(_directory.Path));
        Assert.ThrowsAny<IOException>(() => broken.TryName(At("second"), At("other")));
    }

    [Fact]
    public void Modes_OfNewFilesAndDirectories_AreTheOwnersOnly()
    {
        _fs.CreateDirectory(At("d/e"));
        _fs.CreateDirectory(At("d/e"));
        _fs.Create(At("d/e/f")).Dispose();
        const UnixFileMode file = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        Assert.Equal(file, File.GetUnixFileMode(At("d/e/f")));
        Assert.Equal(file | UnixFileMode.UserExecute, File.GetUnixFileMode(At("d/e")));
    }

    [Fact]
    public void TryLock_HeldFile_IsNullUntilFreed()
    {
        IFileLock first = _fs.TryLock(At("l"))!;
        Assert.Null(_fs.TryLock(At("l")));
        Assert.True(first.IsStillNamed);
        _fs.Delete(At("l"));
        Assert.False(first.IsStillNamed);
        using (IFileLock other = _fs.TryLock(At("l"))!)
        {
            Assert.False(first.IsStillNamed); // another file of that name
            Assert.True(other.IsStillNamed);
        }
        first.Dispose();
    }

    [Fact]
    public async Task WaitForLock_GoneOrRemovedMeanwhile_IsNull()
    {
        Assert.Null(_fs.WaitForLock(At("l"), CancellationToken.None));
        IFileLock held = _fs.TryLock(At("l"))!;
        Task<IFileLock?> waiting = Task.Run(() => _fs.WaitForLock(At("l"), CancellationToken.None));
        _fs.Delete(At("l"));
        held.Dispose();
        Assert.Null(await waiting);
    }

    [Fact]
    public async Task WaitForLock_ToldToStop_Throws()
    {
        using IFileLock held = _fs.TryLock(At("l"))!;
        using var stop = new CancellationTokenSource();
        Task waiting = Task.Run(() => _fs.WaitForLock(At("l"), stop.Token));
        stop.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
    }

    [Fact]
    public void Log_OnTheRealFileSystem_SurvivesTakeOversAndRotation()
    {
        string dir = At("counter");
        var written = new List<LoggedRecord>();
        for (int epoch = 0; epoch < 3; epoch++)
        {
            using Primary primary = Primary.Start(_fs, dir);
            for (int i = 0; i < 40; i++)
            {
                written.Add(primary.Append(new byte[8_000 + i]));
                if (i % 10 == 0) written.Add(primary.AppendSpanning(new byte[100_000]));
                primary.Commit();
                primary.Writer.PrepareSpace();
                primary.Lock.Beat();
            }
        }
        Assert.Equal(written, LogContent.Read(_fs, dir));
        Assert.All(_fs.List(dir),
            n => Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path.Combine(dir, n))));
    }

    public void Dispose() => _directory.Dispose();

    private string At(string name) => Path.Combine(_directory.Path, name);
}
