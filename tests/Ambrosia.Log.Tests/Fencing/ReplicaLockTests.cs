using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;

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
        var looking = new InterceptedFiles(files) { AfterLock = () => seen.Add(ReplicaLock.ListRunning(files, Dir)) };
        Assert.Equal(["r1"], ReplicaLock.ListRunning(looking, Dir));
        Assert.Equal(["r1"], Assert.Single(seen));
    }

    /// <summary>What a replica agreed with holds for its log for ever; where callers find it ends with its process.</summary>
    [Fact]
    public void TryTake_AfterAnEarlierProcess_ForgetsItsAddressAndKeepsWhatItAgreedWith()
    {
        var files = new MemoryFileSystem();
        Assert.Null(FindAgreed(files, except: "r0"));
        using (ReplicaLock first = ReplicaLock.TryTake(files, Dir, "r1")!)
        {
            first.PublishAddress("127.0.0.1:5000");
            Assert.Equal(Lsn.Zero, FindAgreed(files, except: "r0"));
            ReplicaLock.PublishAgreed(files, Dir, "r1", new Lsn(4711));
            Assert.Equal("127.0.0.1:5000", Assert.Single(ReplicaLock.ListAddresses(files, Dir, "r0")).Address);
        }
        Assert.Null(FindAgreed(files, except: "r0"));
        using ReplicaLock second = ReplicaLock.TryTake(files, Dir, "r1")!;
        Assert.Empty(ReplicaLock.ListAddresses(files, Dir, "r0"));
        Assert.Equal(new Lsn(4711), FindAgreed(files, except: "r0"));
        Assert.Null(FindAgreed(files, except: "r1"));
    }

    private static Lsn? FindAgreed(MemoryFileSystem files, string except) =>
        ReplicaLock.FindAgreed(files, Dir, ReplicaLock.ListRunning(files, Dir).Where(name => name != except));
}
