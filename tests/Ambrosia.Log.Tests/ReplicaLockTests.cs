namespace Ambrosia.Log.Tests;

public sealed class ReplicaLockTests
{
    private const string Dir = "/log";

    /// <summary>
    /// Each replica of a log looks now and then who else runs; that one looks must not make another see a replica that is gone.
    /// </summary>
    [Fact]
    public void Present_WhileAnotherLooks_NamesThoseThatRunAndNobodyElse()
    {
        var files = new MemoryFileSystem();
        using ReplicaLock running = ReplicaLock.TryTake(files, Dir, "r1")!;
        ReplicaLock.TryTake(files, Dir, "r0")!.Dispose();
        var seen = new List<IReadOnlyList<string>>();
        var looking = new WatchedFiles(files) { AfterLock = () => seen.Add(ReplicaLock.Present(files, Dir)) };
        Assert.Equal(["r1"], ReplicaLock.Present(looking, Dir));
        Assert.Equal(["r1"], Assert.Single(seen));
    }
}
