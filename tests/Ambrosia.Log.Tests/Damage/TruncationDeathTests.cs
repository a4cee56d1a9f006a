using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A process or the machine dies at every single operation of a life with rotations, checkpoints, truncations and a take-over. Afterwards each
/// published checkpoint that was kept has its log (I7, I14), what was durable is there, and the next truncation leaves nothing behind that nobody needs.
/// </summary>
public sealed class TruncationDeathTests
{
    private const string Dir = "/data/counter";
    private static readonly LogOptions s_options = Primary.Small with { SegmentBytes = 32 << 10, PageBytes = 8 << 10, ZeroWindowBytes = 8 << 10 };

    public enum Death { Process, Power }

    [Theory]
    [InlineData(Death.Process)]
    [InlineData(Death.Power)]
    public void Recover_AfterDeathAtEveryOperation_CheckpointsHaveTheirLog(Death death)
    {
        int seeds = death == Death.Process ? 1 : Math.Max(2, TestScale.Rounds(20)), deaths = 0, truncated = 0;
        for (long at = 1; ; at++)
        {
            var life = new Life();
            if (!life.Run(at)) break;
            deaths++;
            for (int seed = 1; seed <= seeds; seed++)
            {
                SimulatedFileSystem disk = life.Disk.Copy((ulong)seed);
                if (death == Death.Power) disk.PowerLoss((ulong)(seed * 1_000 + at));
                truncated += Check(disk, life, $"{death} at operation {at}, seed {seed}");
            }
        }
        Assert.True(deaths > 300, $"{deaths} operations");
        Assert.True(truncated > 20, $"{truncated} times the log had been truncated");
    }

    /// <summary>
    /// The Nth operation fails, once and for good: checkpoints, truncations, rotations and the take-over among them. Whatever has a
    /// checkpoint's name is whole and on the device. All of them but one kind in strides, unless the campaign is a large one.
    /// </summary>
    [Theory]
    [InlineData(FileFault.InputOutput, false)]
    [InlineData(FileFault.InputOutput, true)]
    [InlineData(FileFault.NoSpace, false)]
    [InlineData(FileFault.NoSpace, true)]
    public void Recover_AfterAnyOperationFailed_CheckpointsHaveTheirLog(FileFault fault, bool forGood)
    {
        int failures = 0, checkpoints = 0, stride = (fault, forGood) == (FileFault.InputOutput, false) || TestScale.Rounds(10) >= 10 ? 1 : 4;
        for (long at = 1; ; at += stride)
        {
            var life = new Life();
            life.Disk.Faults.FailNth(at, fault, forGood, fault == FileFault.NoSpace ? static o => o.Changes : null);
            life.Run(null);
            if (life.Disk.Faults.Fired == 0) break;
            failures++;
            life.Disk.Faults.Clear();
            SimulatedFileSystem disk = life.Disk.Copy();
            if (at / stride % 2 == 0) disk.PowerLoss((ulong)at);
            string what = $"operation {at} failed with {fault}, for good: {forGood}";
            checkpoints += CheckNames(disk, what);
            Check(disk, life, what);
        }
        Assert.True(failures * stride > 200, $"{failures} failures");
        Assert.True(checkpoints * stride > 300, $"{checkpoints} checkpoints looked at");
    }

    /// <summary>Each file that has a checkpoint's name verifies; their number.</summary>
    private static int CheckNames(SimulatedFileSystem disk, string what)
    {
        SimulatedProcess process = disk.ForProcess("look");
        int count = 0;
        foreach (CheckpointFileName name in Checkpoints.List(process, Dir))
        {
            Assert.True(Checkpoints.IsValid(process, Dir, name, InstanceDirectory.TryRead(process, Dir)!), $"{what}: {name} is not whole");
            count++;
        }
        process.Kill();
        return count;
    }

    /// <summary>The control: a segment too many that is gone, and a checkpoint that lies about its page, are noticed by the same check.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Check_PlantedFault_IsNoticed(bool isCheckpoint)
    {
        var life = new Life();
        Assert.False(life.Run(null));
        Assert.Equal(1, Check(life.Disk.Copy(), life, "healthy"));
        SimulatedFileSystem disk = life.Disk.Copy();
        SimulatedProcess process = disk.ForProcess("planted");
        if (isCheckpoint) disk.FlipBit(Path.Combine(Dir, Checkpoints.List(process, Dir)[^1].ToString()), 100, 1);
        else process.Delete(LogChain.Load(process, Dir, InstanceDirectory.TryRead(process, Dir)!).Segments[0].Path);
        Assert.ThrowsAny<Exception>(() => Check(disk, life, "planted"));
    }

    /// <summary>1 when the log does not begin at 0 any more.</summary>
    private static int Check(SimulatedFileSystem disk, Life life, string what)
    {
        try
        {
            SimulatedProcess process = disk.ForProcess("next");
            using Primary primary = Primary.Start(process, Dir, s_options, "r2");
            IReadOnlyList<CheckpointFileName> names = Checkpoints.List(process, Dir);
            foreach (CheckpointFileName name in names.Take(2)) CheckRest(process, primary, life, name); // an older one whose removal was lost may be back without its log
            Lsn first = primary.Log.Chain.Segments[0].FirstLsn;
            if (first == Lsn.Zero) Assert.InRange(WholeLog.Read(process, Dir).Count, life.Durable, life.Appended.Count);
            else Assert.True(names.Count >= 2, $"the log begins at {first} with {names.Count} checkpoints");
            CheckFiles(process, primary);
            return first == Lsn.Zero ? 0 : 1;
        }
        catch (Exception e)
        {
            throw new InvalidOperationException($"{what}: {e.Message}", e);
        }
    }

    /// <summary>From a checkpoint's page on, with the hash that it states, the log is read to everything that was durable.</summary>
    private static void CheckRest(IFileSystem files, Primary primary, Life life, CheckpointFileName name)
    {
        using CheckpointReader checkpoint = CheckpointReader.Open(files, Path.Combine(Dir, name.ToString()), primary.Identity); // whatever has the name is valid
        CheckpointHeader header = checkpoint.Header;
        var records = new List<LoggedRecord>();
        var spanning = new SpanningParts();
        using LogScan scan = LogScan.Open(files, Dir, primary.Identity, new ScanOptions { From = header.PageLsn, PreviousHash = header.PreviousHash });
        while (scan.Next()) spanning.Add(scan.Page, records);
        Assert.IsType<ReadVerdict.Whole>(scan.Verdict);
        List<LoggedRecord> expected = [.. life.Appended.Where(r => r.Lsn >= header.PageLsn)];
        Assert.InRange(records.Count, life.Durable - (life.Appended.Count - expected.Count), expected.Count);
        Assert.Equal(expected[..records.Count], records);
    }

    /// <summary>Two checkpoints more, and the truncation that the dead one may have left unfinished is done.</summary>
    private static void CheckFiles(IFileSystem files, Primary primary)
    {
        for (int i = 0; i < 2; i++)
        {
            LoggedRecord more = primary.Append([1, 2]);
            primary.Commit();
            if (primary.Writer.AppendMark()) primary.Commit();
            Publish(files, primary, more.Lsn);
        }
        primary.Truncate(files, Dir);
        var needed = primary.Log.Chain.Segments.Select(static s => s.Name.ToString()).ToHashSet();
        needed.UnionWith(["instance", new EpochFileName(primary.Identity.Uuid, primary.Fence.Epoch).ToString()]);
        Assert.Equal(2, Checkpoints.List(files, Dir).Count);
        needed.UnionWith(Checkpoints.List(files, Dir).Select(static c => c.ToString()));
        Assert.DoesNotContain(files.List(Dir), n => !needed.Contains(n) && PrimaryFileName.TryParse(n)?.Epoch != primary.Fence.Epoch && SpareFileName.TryParse(n)?.Epoch != primary.Fence.Epoch);
    }

    /// <summary>A checkpoint of everything below a record, as a coordinator makes one; the header's page and hash are those that the log has.</summary>
    private static void Publish(IFileSystem files, Primary primary, Lsn lsn)
    {
        Lsn page = lsn + -(long)(lsn.Value % 4_096);
        using var reader = new LogReader(files, Dir, primary.Identity, primary.Log.Chain);
        var buffer = new PageBuffer(8 << 10);
        Assert.Equal(ReadStatus.Page, reader.Read(page, ref buffer));
        var header = new CheckpointHeader(0, primary.Identity.Uuid, lsn, page, primary.Fence.Epoch, 7, 1, buffer.TimeMicros, buffer.PreviousHash, "r0");
        using var writer = new CheckpointWriter(files, Dir, primary.Identity, header, NoCrashPoints.Instance);
        writer.Write(CheckpointSection.Coordinator, [0x84]);
        writer.Write(CheckpointSection.Image, new byte[1_000]);
        writer.Finish();
        writer.Publish(primary.Writer.Stated);
    }

    private sealed class Life
    {
        public SimulatedFileSystem Disk { get; } = new(1);
        public List<LoggedRecord> Appended { get; } = [];
        public int Durable { get; private set; }

        /// <summary>True when it died at that operation, or of a fault.</summary>
        public bool Run(long? dieAt)
        {
            Disk.MakeDirectory("/data");
            Disk.BeforeOperation = o =>
            {
                if (o.Index == dieAt) throw new SimulatedCrash("planned") { BytesWritten = (int)(o.Bytes / 3) };
            };
            try
            {
                Serve(Disk.ForProcess("a"), "r0");
                Serve(Disk.ForProcess("b"), "r1");
                return false;
            }
            catch (Exception e) when (e is SimulatedCrash or IOException)
            {
                return true;
            }
            finally
            {
                Disk.BeforeOperation = null;
                foreach (string id in new[] { "a", "b" }) Disk.ForProcess(id).Kill();
            }
        }

        private void Serve(SimulatedProcess process, string replica)
        {
            using Primary primary = Primary.Start(process, Dir, s_options, replica);
            for (int i = 0; i < 9; i++)
            {
                byte[] body = new byte[i % 4 == 3 ? 14_000 : 2_500 + i];
                Array.Fill(body, (byte)(Appended.Count + 1));
                Appended.Add(body.Length > 8_000 ? primary.AppendSpanning(body) : primary.Append(body));
                Commit(primary);
                if (i % 3 != 2) continue;
                LoggedRecord last = primary.Append([(byte)i]);
                Appended.Add(last);
                Commit(primary);
                if (primary.Writer.AppendMark()) Commit(primary);
                Publish(process, primary, last.Lsn);
                primary.Truncate(process, Dir);
            }
            process.Kill();
        }

        private void Commit(Primary primary)
        {
            for (int rounds = 0; ; rounds++)
            {
                primary.Commit();
                Durable = Appended.Count(r => r.Lsn < primary.Writer.Durable);
                if (!primary.Writer.IsAwaitingSpace) return;
                if (rounds == 3) throw new IOException("the disk stays full");
            }
        }
    }
}
