using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A process or the machine dies at every single file operation of a log's life, and the disk keeps what a journalling file system may
/// keep. Whatever was Durable is there afterwards, at its Lsn, and nothing else than what was appended.
/// </summary>
public sealed class LossyDiskTests
{
    private const string Dir = "/data/counter";

    public enum Death { Process, Power, PowerTwice }

    [Theory]
    [InlineData(Death.Process)]
    [InlineData(Death.Power)]
    [InlineData(Death.PowerTwice)]
    public void Recover_AfterDeathAtEveryOperation_HasEverythingDurable(Death death)
    {
        int deaths = 0;
        (int first, int step) = TestScale.Sample(3);
        for (long at = 1 + first; ; at += step)
        {
            var life = new Life(seed: 1);
            if (!life.Run(at)) break;
            deaths++;
            ulong seeds = death == Death.Process ? 1UL : 16;
            for (ulong seed = 1; seed <= seeds; seed++)
            {
                SimulatedFileSystem disk = life.Disk.Copy(seed);
                if (death != Death.Process) disk.PowerLoss(seed * 1_000 + (ulong)at);
                if (death == Death.PowerTwice) DieWhileRecovering(disk, seed, (int)at % 40 + 1);
                Check(disk, life, $"{death} at operation {at}, seed {seed}");
            }
        }
        Assert.True(deaths > 200 / step, $"{deaths} operations");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Recover_AfterAnyOperationFailed_HasEverythingDurable(bool isDiskFull)
    {
        long failures = 0;
        for (long at = 1; ; at++)
        {
            var life = new Life(seed: 2);
            life.Disk.Faults.FailNth(at, isDiskFull ? FileFault.NoSpace : FileFault.InputOutput);
            life.Run(null);
            if (life.Disk.Faults.Fired == 0) break;
            failures++;
            life.Disk.Faults.Clear();
            SimulatedFileSystem disk = life.Disk.Copy();
            disk.PowerLoss((ulong)at);
            Check(disk, life, $"operation {at} failed, full: {isDiskFull}");
        }
        Assert.True(failures > 100, $"{failures} failures");
    }

    /// <summary>The control: a disk that forgets flushed pages must be noticed by the same check.</summary>
    [Fact]
    public void Check_DiskThatForgetsADurableRecord_IsNoticed()
    {
        var life = new Life(seed: 3);
        Assert.False(life.Run(null));
        Check(life.Disk.Copy(), life, "healthy");
        SimulatedFileSystem disk = life.Disk.Copy();
        string last = disk.Files().Last(f => Path.GetFileName(f).StartsWith("log.", StringComparison.Ordinal));
        disk.WriteAll(last, disk.ReadAll(last).AsSpan(0, SegmentHeader.Bytes));
        Assert.ThrowsAny<Exception>(() => Check(disk, life, "forgetful"));
    }

    private static void DieWhileRecovering(SimulatedFileSystem disk, ulong seed, int operations)
    {
        SimulatedProcess process = disk.ForProcess("second");
        long until = disk.Operations + operations;
        disk.BeforeOperation = o =>
        {
            if (o.Process == process.Id && disk.Operations >= until) throw new SimulatedCrash("planned");
        };
        try
        {
            using Primary primary = Primary.Start(process, Dir, Life.Options, "r1");
            primary.Append([0xEE]); // appended by nobody that the check knows: it must not become Durable
        }
        catch (SimulatedCrash)
        {
        }
        disk.BeforeOperation = null;
        disk.PowerLoss(seed + 77);
    }

    private static void Check(SimulatedFileSystem disk, Life life, string what)
    {
        try
        {
            SimulatedProcess process = disk.ForProcess("next");
            using Primary primary = Primary.Start(process, Dir, Life.Options, "r2");
            List<LoggedRecord> read = LogContent.Read(process, Dir);
            Assert.InRange(read.Count, life.Durable, life.Appended.Count);
            Assert.Equal(life.Appended[..read.Count], read);
            LoggedRecord more = primary.Append([1, 2]);
            primary.Commit();
            Assert.Equal(more, LogContent.Read(process, Dir)[^1]);
            foreach (CheckpointFileName name in primary.Log.Checkpoints)
                Assert.True(CheckpointDirectory.IsValid(process, Dir, name, primary.Identity));
        }
        catch (Exception e) when (e is not Xunit.Sdk.XunitException { InnerException: not null })
        {
            throw new InvalidOperationException($"{what}: {e.Message}", e);
        }
    }

    /// <summary>
    /// What one process, or two after one another, do with a log: creation, commits, spanning records, rotation, marks, a
    /// checkpoint, a take-over.
    /// </summary>
    private sealed class Life(ulong seed)
    {
        public static LogOptions Options { get; } = Primary.Small with
        {
            SegmentBytes = 64 << 10, PageBytes = 8 << 10, ZeroWindowBytes = 16 << 10
        };

        public SimulatedFileSystem Disk { get; } = Prepared(seed);
        public List<LoggedRecord> Appended { get; } = [];
        public int Durable { get; private set; }

        /// <summary>True when it died at that operation.</summary>
        public bool Run(long? dieAt)
        {
            Disk.BeforeOperation = o =>
            {
                if (o.Index == dieAt) throw new SimulatedCrash("planned");
            };
            try
            {
                Serve(Disk.ForProcess("a"), "r0", checkpoint: true);
                Serve(Disk.ForProcess("b"), "r1", checkpoint: false);
                return false;
            }
            catch (SimulatedCrash)
            {
                return true;
            }
            catch (IOException)
            {
                return true;
            }
            finally
            {
                Disk.BeforeOperation = null;
                foreach (string id in new[] { "a", "b" }) Disk.ForProcess(id).Kill();
            }
        }

        private static SimulatedFileSystem Prepared(ulong seed)
        {
            var disk = new SimulatedFileSystem(seed);
            disk.MakeDirectory("/data");
            return disk;
        }

        private void Serve(SimulatedProcess process, string replica, bool checkpoint)
        {
            using Primary primary = Primary.Start(process, Dir, Options, replica);
            for (int i = 0; i < 8; i++)
            {
                Append(primary, new byte[i * 900]);
                if (i % 4 == 1) AppendSpanning(primary, 20_000 + i);
                Append(primary, [(byte)i, 7]);
                Commit(primary);
                if (i % 2 == 0) primary.Writer.PrepareSpace();
                if (i % 3 == 0) primary.Lock.Beat(primary.Writer.Segment, primary.Writer.Durable); // true whatever power loss leaves of it
            }
            if (primary.Writer.AppendMark()) Commit(primary);
            if (checkpoint)
                CheckpointTests.Write(process, Dir, primary, Appended[5].Lsn, Appended[5].Lsn + -(long)(Appended[5].Lsn.Value % 4_096));
            process.Kill();
        }

        private void Append(Primary primary, byte[] body) => Appended.Add(primary.Append(body));

        private void AppendSpanning(Primary primary, int bytes)
        {
            byte[] body = new byte[bytes];
            Array.Fill(body, (byte)bytes);
            Appended.Add(primary.AppendSpanning(body));
        }

        private void Commit(Primary primary)
        {
            while (primary.Next() is { } group)
            {
                Primary.Steps(group);
                primary.Writer.Complete(group);
                Durable = Appended.Count(r => r.Lsn < primary.Writer.Durable);
            }
        }
    }
}
