using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Two processes after one another that append, rotate, publish checkpoints, truncate as a coordinator does (files of the own epoch live
/// again), and take over; and the check that whatever a fault left is a log like any other. Knows what was appended and what was durable.
/// </summary>
internal sealed class TruncationScenario
{
    public const string Dir = "/data/counter";

    public static LogOptions Options { get; } = Primary.Small with
    {
        SegmentBytes = 32 << 10, PageBytes = 8 << 10, ZeroWindowBytes = 8 << 10, AllocateStepBytes = 16 << 10, SparesMax = 2
    };

    private readonly int _rounds;

    /// <param name="rounds">Of each process; a checkpoint and a truncation at every third.</param>
    public TruncationScenario(int rounds = 9)
    {
        _rounds = rounds;
        Disk.MakeDirectory("/data");
    }

    public SimulatedFileSystem Disk { get; } = new(1);

    public List<LoggedRecord> Appended { get; } = [];

    public int Durable { get; private set; }

    public long Recycled { get; private set; }

    /// <summary>Sees each operation before it happens.</summary>
    public Action<FileOperation>? Before { get; set; }

    /// <summary>What the processes see in place of the simulated disk.</summary>
    public Func<IFileSystem, IFileSystem> View { get; init; } = static files => files;

    /// <summary>The exception that ended the scenario; null when it went to its end.</summary>
    public Exception? Death { get; private set; }

    /// <summary>True when it died at that operation, or of a fault.</summary>
    public bool Run(long? dieAt = null)
    {
        Disk.BeforeOperation = o =>
        {
            Before?.Invoke(o);
            if (o.Index == dieAt) throw new SimulatedCrash("planned") { BytesWritten = (int)(o.Bytes / 3) };
        };
        try
        {
            foreach ((string id, string replica) in new[] { ("a", "r0"), ("b", "r1") })
            {
                SimulatedProcess process = Disk.ForProcess(id);
                Serve(View(process), Dir, replica);
                process.Kill();
            }
        }
        catch (Exception e) when (e is SimulatedCrash or IOException || IsUnreadable(e))
        {
            Death = e;
        }
        finally
        {
            Disk.BeforeOperation = null;
            foreach (string id in new[] { "a", "b" }) Disk.ForProcess(id).Kill();
        }
        return Death is not null;
    }

    /// <summary>Says whether a process ended since a segment cannot be read: a fault of the disk that lasts.</summary>
    public static bool IsUnreadable(Exception e) =>
        e is LogDamage damage && damage.Found.StartsWith("simulated EIO", StringComparison.Ordinal);

    /// <summary>Plays the part of one process.</summary>
    public void Serve(IFileSystem files, string dir, string replica)
    {
        using Primary primary = Primary.Start(files, dir, Options, replica);
        Truncation truncation = primary.Truncation(files, dir);
        for (int i = 0; i < _rounds; i++)
        {
            Append(primary, i == 7 ? 40_000 : i % 4 == 3 ? 14_000 : 2_500 + i); // the largest makes a segment longer than the others
            if (i % 3 == 1) // a group of three pages
                for (int more = 0; more < 2; more++) Append(primary, 6_000);
            Commit(primary);
            if (i % 2 == 0) primary.Writer.PrepareSpace();
            if (i % 3 != 2) continue;
            LoggedRecord last = primary.Append([(byte)i]);
            Appended.Add(last);
            Commit(primary);
            if (primary.Writer.AppendMark()) Commit(primary);
            Publish(files, dir, primary, last.Lsn);
            truncation.Truncate(default);
        }
        Recycled += primary.Writer.Metrics.Recycled;
    }

    /// <summary>Returns 1 when the log does not begin at 0 any more.</summary>
    public int Check(SimulatedFileSystem disk, string what) => Check(disk.ForProcess("next"), Dir, what);

    /// <inheritdoc cref="Check(SimulatedFileSystem, string)"/>
    public int Check(IFileSystem files, string dir, string what)
    {
        try
        {
            using Primary primary = Primary.Start(files, dir, Options, "r2");
            IReadOnlyList<CheckpointFileName> names = CheckpointDirectory.List(files, dir);
            // an older one whose removal was lost may be back without its log
            foreach (CheckpointFileName name in names.Take(2)) CheckRest(files, dir, primary, name);
            Lsn first = primary.Log.Chain.Segments[0].FirstLsn;
            if (first == Lsn.Zero)
            {
                List<LoggedRecord> read = LogContent.Read(files, dir);
                Assert.InRange(read.Count, Durable, Appended.Count);
                Assert.Equal(Appended[..read.Count], read);
            }
            else Assert.True(names.Count >= 2, $"the log begins at {first} with {names.Count} checkpoints");
            CheckFiles(files, dir, primary);
            return first == Lsn.Zero ? 0 : 1;
        }
        catch (Exception e)
        {
            throw new InvalidOperationException($"{what}: {e.Message}", e);
        }
    }

    /// <summary>
    /// A checkpoint of everything below a record, as a coordinator makes one; the header's page and hash are those that the log has.
    /// </summary>
    public static void Publish(IFileSystem files, string dir, Primary primary, Lsn lsn)
    {
        Lsn page = lsn + -(long)(lsn.Value % 4_096);
        using var reader = new LogReader(files, dir, primary.Identity, primary.Log.Chain);
        var buffer = new PageBuffer(8 << 10);
        Assert.Equal(ReadStatus.Page, reader.Read(page, ref buffer));
        var header = new CheckpointHeader(0, primary.Identity.Uuid, lsn, page, primary.Fence.Epoch, 0, 1, buffer.TimeMicros,
            buffer.PreviousHash, "r0");
        using var writer = new CheckpointWriter(files, dir, primary.Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, [0x84]);
        writer.Write(CheckpointSection.Image, new byte[1_000]);
        writer.Finish();
        writer.Publish(primary.Writer.Stated);
    }

    /// <summary>From a checkpoint's page on, with the hash that it states, the log is read to everything that was durable.</summary>
    private void CheckRest(IFileSystem files, string dir, Primary primary, CheckpointFileName name)
    {
        // whatever has the name is valid
        using CheckpointReader checkpoint = CheckpointReader.Open(files, Path.Combine(dir, name.ToString()), primary.Identity);
        CheckpointHeader header = checkpoint.Header;
        var records = new List<LoggedRecord>();
        var spanning = new SpanningParts();
        using LogScan scan = LogScan.Open(files, dir, primary.Identity,
            new ScanOptions { From = header.PageLsn, PreviousHash = header.PreviousHash });
        while (scan.Next()) spanning.Add(scan.Page, records);
        Assert.IsType<ReadVerdict.CleanEnd>(scan.Verdict);
        int below = Appended.FindIndex(r => r.Lsn >= header.PageLsn);
        Assert.InRange(records.Count, Durable - below, Appended.Count - below);
        Assert.Equal(Appended[below..(below + records.Count)], records);
    }

    /// <summary>Writes two more checkpoints, after which the truncation that the dead process may have left unfinished is done.</summary>
    private static void CheckFiles(IFileSystem files, string dir, Primary primary)
    {
        Truncation truncation = primary.Truncation(files, dir);
        for (int i = 0; i < 2; i++)
        {
            LoggedRecord more = primary.Append([1, 2]);
            primary.Commit();
            if (primary.Writer.AppendMark()) primary.Commit();
            Publish(files, dir, primary, more.Lsn);
        }
        truncation.Truncate(default);
        var needed = primary.Log.Chain.Segments.Select(static s => s.Name.ToString()).ToHashSet();
        needed.UnionWith(["instance", new EpochFileName(primary.Identity.Uuid, primary.Fence.Epoch).ToString()]);
        Assert.Equal(2, CheckpointDirectory.List(files, dir).Count);
        needed.UnionWith(CheckpointDirectory.List(files, dir).Select(static c => c.ToString()));
        Assert.DoesNotContain(files.List(dir),
            n => !needed.Contains(n) && PrimaryFileName.TryParse(n)?.Epoch != primary.Fence.Epoch
                && SpareFileName.TryParse(n)?.Epoch != primary.Fence.Epoch);
    }

    private void Append(Primary primary, int bytes)
    {
        byte[] body = new byte[bytes];
        Array.Fill(body, (byte)(Appended.Count + 1));
        Appended.Add(bytes > 8_000 ? primary.AppendSpanning(body) : primary.Append(body));
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
