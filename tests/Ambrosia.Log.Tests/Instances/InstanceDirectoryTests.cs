using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

public sealed class InstanceDirectoryTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly PosixFileSystem _fs = new();

    private string Dir => Path.Combine(_directory.Path, "deep", "counter");

    [Fact]
    public void Create_EmptyDirectory_IsReadBack()
    {
        Assert.Null(InstanceDirectory.TryRead(_fs, Dir));
        InstanceIdentity made = Primary.Create(_fs, Dir);
        Assert.Equal(new InstanceIdentity("counter", 0, Primary.Uuid, 1_000_000), made);
        Assert.Equal(made, InstanceDirectory.TryRead(_fs, Dir));
        Assert.Equal([$"epoch.{Primary.Uuid:D}.0", "instance"], _fs.List(Dir));
    }

    [Fact]
    public void Create_RacedByMany_AllReturnTheSameInstance()
    {
        for (int round = 0; round < 20; round++)
        {
            string dir = Path.Combine(_directory.Path, $"race{round}");
            var made = new InstanceIdentity[6];
            Parallel.For(0, made.Length, new ParallelOptions { MaxDegreeOfParallelism = 6 }, i =>
                made[i] = InstanceDirectory.Create(_fs, dir, "counter", 0, Guid.NewGuid(), i, "r0", ICrashPoints.None));
            Assert.Single(made.Distinct());
            Assert.Contains($"epoch.{made[0].Uuid:D}.0", _fs.List(dir));
            Assert.Equal(made[0], InstanceDirectory.TryRead(_fs, dir));
        }
    }

    /// <summary>Between the creator's link and its clearing away another replica has claimed the log, and builds a segment.</summary>
    [Fact]
    public void Create_WhileAnotherReplicaIsAtWorkAlready_LeavesItsFilesAlone()
    {
        string segment = Path.Combine(Dir, "log.1.1.r1.1.tmp"), unfinished = Path.Combine(Dir, $"instance.{Guid.NewGuid():D}.r2.0.tmp");
        Primary.Create(_fs, Dir, new AtPoint("create.afterInstance", () =>
        {
            _fs.Create(segment).Dispose();
            _fs.Create(unfinished).Dispose();
        }));
        Assert.True(_fs.Exists(segment));
        Assert.False(_fs.Exists(unfinished));
    }

    /// <summary>Does something at a place of the process instead of ending it there.</summary>
    private sealed class AtPoint(string name, Action act) : ICrashPoints
    {
        public void Hit(string place)
        {
            if (place == name) act();
        }
    }

    [Theory]
    [InlineData("create.beforeInstance")]
    [InlineData("create.afterInstance")]
    public void Create_CrashedHalfWay_IsDoneByTheNext(string point)
    {
        Assert.Throws<CrashAt.Crashed>(() => Primary.Create(_fs, Dir, new CrashAt(point)));
        InstanceIdentity made = InstanceDirectory.Create(_fs, Dir, "counter", 0, Guid.NewGuid(), 2, "r1", ICrashPoints.None);
        Assert.Equal(made, InstanceDirectory.TryRead(_fs, Dir));
        using Primary primary = Primary.Start(_fs, Dir);
        Assert.Equal(made, primary.Identity);
        Assert.DoesNotContain(_fs.List(Dir), n => n.EndsWith(".tmp", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Create_ThenPowerLoss_IsThereUnderEveryLevelThatItMade(int dies)
    {
        const string deep = "/a/b/c/d";
        for (long at = 1; ; at++)
        {
            var disk = new SimulatedFileSystem();
            SimulatedProcess first = disk.ForProcess("first");
            bool isDead = false;
            disk.BeforeOperation = o =>
            {
                if (dies > 0 && o.Process == first.Id && o.Index == at) throw new SimulatedCrash("planned");
            };
            try
            {
                Primary.Create(first, deep);
            }
            catch (SimulatedCrash)
            {
                isDead = true;
                Primary.Create(disk.ForProcess("second"), deep, replica: "r1"); // finds what the first has made and not flushed
            }
            disk.PowerLoss((ulong)at, PowerLossOptions.LoseAll);
            Assert.NotNull(InstanceDirectory.TryRead(disk, deep));
            if (!isDead) return;
        }
    }

    [Theory]
    [InlineData("log.1.1")]
    [InlineData("ckpt.1.1.r0")]
    [InlineData("notes.txt")]
    [InlineData("epoch.0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0.1")]
    public void Create_DirectoryWithOtherFiles_IsRefused(string name)
    {
        _fs.CreateDirectory(Dir);
        _fs.Create(Path.Combine(Dir, name)).Dispose();
        Assert.Contains(name, Assert.Throws<InstanceExistsException>(() => Primary.Create(_fs, Dir)).Message, StringComparison.Ordinal);
        Assert.Equal([name], _fs.List(Dir));
    }

    [Fact]
    public void TryRead_EveryBitFlippedAndEveryLength_Halts()
    {
        var fs = new MemoryFileSystem();
        Primary.Create(fs, "/x");
        byte[] good = fs.Content("/x/instance");
        for (int bit = 0; bit < good.Length * 8; bit++)
        {
            byte[] bad = [.. good];
            bad[bit / 8] ^= (byte)(1 << (bit % 8));
            fs.SetContent("/x/instance", bad);
            Assert.Throws<LogDamage>(() => InstanceDirectory.TryRead(fs, "/x"));
        }
        for (int length = 0; length < good.Length; length++)
        {
            fs.SetContent("/x/instance", good.AsSpan(0, length));
            Assert.Throws<LogDamage>(() => InstanceDirectory.TryRead(fs, "/x"));
        }
        fs.SetContent("/x/instance", [.. good, 0]);
        Assert.Throws<LogDamage>(() => InstanceDirectory.TryRead(fs, "/x"));
    }

    [Theory]
    [InlineData("")]
    [InlineData("-x")]
    [InlineData("a.b")]
    [InlineData("a/b")]
    public void Create_BadName_Throws(string name) => Assert.Throws<ArgumentException>(() =>
        InstanceDirectory.Create(_fs, Dir, name, 0, Guid.NewGuid(), 0, "r0", ICrashPoints.None));

    public void Dispose() => _directory.Dispose();
}
