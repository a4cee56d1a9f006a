using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>Files that are only read: all that reads passes, all that would change something is refused before it is tried.</summary>
public sealed class ReadOnlyFilesTests
{
    private const string Path = "/log/a";
    private readonly SimulatedFileSystem _files = new();

    public ReadOnlyFilesTests()
    {
        _files.CreateDirectory("/log");
        using IFile file = _files.Create(Path);
        file.Write([1, 2, 3], 0);
    }

    [Fact]
    public void Files_ThatAreOnlyRead_AreReadAsTheyAre()
    {
        var read = new ReadOnlyFiles(_files);
        byte[] bytes = new byte[5];
        using IFile file = read.Open(Path, FileUse.Read);

        Assert.Equal((3, 3L), (file.Read(bytes, 0), file.Length));
        Assert.Equal([1, 2, 3, 0, 0], bytes);
        Assert.Equal((true, false), (read.Exists(Path), read.Exists("/log/b")));
        Assert.Equal(["a"], read.List("/log"));
        Assert.True(file.TryLock(FileLockKind.Shared)); // readers hold a segment by it
        file.Unlock();
    }

    [Fact]
    public void Names_ThatAreHidden_AreNotListed() => Assert.Empty(new ReadOnlyFiles(_files, new HashSet<string> { "a" }).List("/log"));

    [Fact]
    public void Operations_ThatChangeSomething_AreRefused()
    {
        var read = new ReadOnlyFiles(_files);
        using IFile file = read.Open(Path, FileUse.Read);
        Action[] changes =
        [
            () => read.Open(Path, FileUse.ReadWrite), () => read.Create("/log/b"), () => read.CreateDirectory("/log/c"),
            () => read.Rename(Path, "/log/b"), () => read.TryRenameNew(Path, "/log/b"), () => read.TryLink(Path, "/log/b"),
            () => read.Delete(Path), () => read.FlushDirectory("/log"), () => read.TryLock(Path),
            () => read.WaitForLock(Path, CancellationToken.None), () => file.Write([9], 0), () => file.Allocate(0, 9),
            () => file.SetLength(1), file.Flush, () => file.TryLock(FileLockKind.Exclusive),
        ];
        long before = _files.Operations;

        Assert.All(changes, static change => Assert.Contains("only read", Assert.Throws<InvalidOperationException>(change).Message));
        Assert.Equal(before, _files.Operations); // none has come to the files
        Assert.Equal(["a"], _files.List("/log"));
        Assert.Equal(3, file.Length);
    }
}
