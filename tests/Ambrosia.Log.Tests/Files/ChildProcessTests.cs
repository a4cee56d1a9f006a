using System.Diagnostics;
using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Alone: until a child has replaced its program it has all files of this process open, so that a lock that another test
/// lets go then is held on.
/// </summary>
[Collection(SequentialCollection.Name)]
public sealed class ChildProcessTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly PosixFileSystem _fs = new();

    [Fact]
    public void TryLock_OwnerStartsAChild_ChildDoesNotKeepTheLock()
    {
        string path = Path.Combine(_directory.Path, "l");
        IFileLock held = _fs.TryLock(path)!;
        using Process child = Process.Start(new ProcessStartInfo("sleep", "60"))!;
        held.Dispose();
        using IFileLock? again = _fs.TryLock(path);
        child.Kill();
        Assert.NotNull(again);
    }

    public void Dispose() => _directory.Dispose();
}
