using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
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

    [Fact]
    public void LowestFeatures_OfReplicasOfThisBuild_IsItsOwn()
    {
        var files = new MemoryFileSystem();
        Assert.Equal(LogFeatures.Version, ReplicaLock.LowestFeatures(files, Dir, []));
        using ReplicaLock one = ReplicaLock.TryTake(files, Dir, "r0")!, two = ReplicaLock.TryTake(files, Dir, "r1")!;
        one.PublishAddress("127.0.0.1:5000");
        ReplicaLock.PublishAgreed(files, Dir, "r1", new Lsn(4711));
        Assert.Equal(LogFeatures.Version, ReplicaLock.LowestFeatures(files, Dir, ["r0", "r1"]));
    }

    /// <summary>One that states nothing binds all: a file of an earlier build ends before the place, or has zeros there.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(15)]
    [InlineData(251)]
    [InlineData(264)]
    public void LowestFeatures_FileThatStatesNone_IsZero(int bytes)
    {
        var files = new MemoryFileSystem();
        using ReplicaLock one = ReplicaLock.TryTake(files, Dir, "r0")!;
        using (IFileLock old = files.TryLock($"{Dir}/replica.r1")!) old.File.Write(new byte[bytes], 0);
        Assert.Equal(0ul, ReplicaLock.LowestFeatures(files, Dir, ["r0", "r1"]));
    }

    [Fact]
    public void LowestFeatures_ReplicaThatIsGone_IsZero() =>
        Assert.Equal(0ul, ReplicaLock.LowestFeatures(new MemoryFileSystem(), Dir, ["r1"]));

    /// <summary>What a later build stated under this name does not hold for the process that has it now.</summary>
    [Fact]
    public void TryTake_AfterAProcessThatKnewMore_StatesItsOwn()
    {
        var files = new MemoryFileSystem();
        using (IFileLock later = files.TryLock($"{Dir}/replica.r1")!) later.File.Write([.. Enumerable.Repeat((byte)9, 264)], 0);
        Assert.Equal(LogFeatures.Version, ReplicaLock.LowestFeatures(files, Dir, ["r1"])); // this process knows no more itself
        using ReplicaLock now = ReplicaLock.TryTake(files, Dir, "r1")!;
        byte[] stated = files.Content($"{Dir}/replica.r1");
        Assert.Equal(LogFeatures.Version, BitConverter.ToUInt64(stated, 248));
        Assert.All(stated[..248], static b => Assert.Equal(0, b));
        Assert.Equal(9, stated[256]);
    }

    /// <summary>What the process before has written would make of a replica that was just started one that follows.</summary>
    [Fact]
    public void TryTake_AfterAProcessThatMoved_SaysNothingOfItAndKeepsWhatItAgreedWith()
    {
        var files = new MemoryFileSystem();
        Assert.Equal(default, ReplicaLock.ReadMove(files, Dir, "r1"));
        using (ReplicaLock first = ReplicaLock.TryTake(files, Dir, "r1")!)
        {
            Assert.Equal(default, ReplicaLock.ReadMove(files, Dir, "r1"));
            ReplicaLock.PublishAgreed(files, Dir, "r1", new Lsn(4711));
            first.PublishMove(new Lsn(5000));
            first.PublishMove(new Lsn(6000));
            Assert.Equal(new FollowerMove(2, new Lsn(6000)), ReplicaLock.ReadMove(files, Dir, "r1"));
        }
        using ReplicaLock second = ReplicaLock.TryTake(files, Dir, "r1")!;
        Assert.Equal(default, ReplicaLock.ReadMove(files, Dir, "r1"));
        Assert.Equal(new Lsn(4711), FindAgreed(files, except: "r0"));
    }

    [Fact]
    public void ReadMove_LsnBeyondAllLogs_ReadsAsZero()
    {
        var files = new MemoryFileSystem();
        using (IFileLock bad = files.TryLock($"{Dir}/replica.r1")!) bad.File.Write([.. Enumerable.Repeat((byte)255, 280)], 0);
        Assert.Equal(new FollowerMove(ulong.MaxValue, Lsn.Zero), ReplicaLock.ReadMove(files, Dir, "r1"));
    }

    /// <summary>The longest address that fits ends where the features begin; a longer one would overwrite them.</summary>
    [Theory]
    [InlineData(247, true)]
    [InlineData(248, false)]
    public void PublishAddress_OfAnyLength_LeavesTheFeatures(int characters, bool isPublished)
    {
        var files = new MemoryFileSystem();
        using ReplicaLock one = ReplicaLock.TryTake(files, Dir, "r1")!;
        one.PublishAddress(new string('a', characters));
        Assert.Equal(isPublished ? 1 : 0, ReplicaLock.ListAddresses(files, Dir, "r0").Count);
        Assert.Equal(LogFeatures.Version, ReplicaLock.LowestFeatures(files, Dir, ["r1"]));
    }

    private static Lsn? FindAgreed(MemoryFileSystem files, string except) =>
        ReplicaLock.FindAgreed(files, Dir, ReplicaLock.ListRunning(files, Dir).Where(name => name != except));
}
