using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// One process, or two after one another, that write a log of small segments and let go of all but the newest ones, so that each file lives
/// several times. Knows what was appended, what was durable, and what was let go.
/// </summary>
internal sealed class RecyclingScenario(ulong seed)
{
    public const string Dir = "/data/counter";

    private const int KeptSegments = 2;

    public static LogOptions Options { get; } = Primary.Small with
    {
        SegmentBytes = 48 << 10, PageBytes = 8 << 10, ZeroWindowBytes = 8 << 10, AllocateStepBytes = 16 << 10, SparesMax = 2
    };

    public SimulatedFileSystem Disk { get; } = Prepared(seed);

    public List<LoggedRecord> Appended { get; } = [];

    public int Durable { get; private set; }

    /// <summary>Records below this may be gone.</summary>
    public Lsn Released { get; private set; }

    public long Recycled { get; private set; }

    /// <summary>Rounds in which nothing could be committed, because the disk was full.</summary>
    public int Shortages { get; private set; }

    /// <summary>Called in each such round.</summary>
    public Action<Primary>? InShortage { get; set; }

    /// <summary>The exception that ended the scenario before its end; null when it went to its end.</summary>
    public Exception? Death { get; private set; }

    public void Run(long? dieAt = null)
    {
        Disk.BeforeOperation = o =>
        {
            if (o.Index == dieAt) throw new SimulatedCrash("planned") { BytesWritten = (int)(o.Bytes / 3) };
        };
        try
        {
            Serve(Disk.ForProcess("a"), "r0", 26);
            Serve(Disk.ForProcess("b"), "r1", 18);
        }
        catch (Exception e) when (e is SimulatedCrash or IOException)
        {
            Death = e;
        }
        finally
        {
            Disk.BeforeOperation = null;
            foreach (string id in new[] { "a", "b" }) Disk.ForProcess(id).Kill();
        }
    }

    /// <summary>The next process finds everything that was durable, nothing else, and no file that nobody needs.</summary>
    public void Check(SimulatedFileSystem disk, string what)
    {
        try
        {
            SimulatedProcess process = disk.ForProcess("next");
            using Primary primary = Primary.Start(process, Dir, Options, "r2");
            CheckRecords(process, primary);
            CheckFiles(process, primary);
            LoggedRecord more = primary.Append([1, 2]);
            primary.Commit();
            Assert.Equal(more, LogContent.Read(process, Dir, First(primary))[^1]);
        }
        catch (Exception e)
        {
            throw new InvalidOperationException($"{what}: {e.Message}", e);
        }
    }

    private void CheckRecords(IFileSystem files, Primary primary)
    {
        Lsn first = First(primary);
        Assert.True(first <= Released, $"the log begins at {first}; only what is below {Released} was let go");
        List<LoggedRecord> read = LogContent.Read(files, Dir, first), expected = [.. Appended.Where(r => r.Lsn >= first)];
        int below = Appended.Count - expected.Count;
        Assert.InRange(read.Count, Durable - below, expected.Count);
        Assert.Equal(expected[..read.Count], read);
    }

    private static void CheckFiles(IFileSystem files, Primary primary)
    {
        primary.Writer.RemoveOrphans();
        var chain = primary.Log.Chain.Segments.Select(static s => s.Name.ToString()).ToHashSet();
        string epoch = new EpochFileName(primary.Identity.Uuid, primary.Fence.Epoch).ToString();
        // a loser that died leaves its lock to the next take-over
        IEnumerable<string> others = files.List(Dir).Where(n => PrimaryFileName.TryParse(n)?.Epoch != primary.Fence.Epoch);
        Assert.Equal(chain.Append("instance").Append(epoch).Order(StringComparer.Ordinal), others);
    }

    private static Lsn First(Primary primary) => primary.Log.Chain.Segments[0].FirstLsn;

    private static SimulatedFileSystem Prepared(ulong seed)
    {
        var disk = new SimulatedFileSystem(seed);
        disk.MakeDirectory("/data");
        return disk;
    }

    private void Serve(SimulatedProcess process, string replica, int rounds)
    {
        using Primary primary = Primary.Start(process, Dir, Options, replica);
        for (int i = 0; i < rounds; i++)
        {
            Append(primary, i % 5 == 4 ? 20_000 : 1_500 * (i % 4));
            if (i % 3 == 0) Append(primary, 7);
            while (!TryCommit(primary))
            {
                Shortages++;
                InShortage?.Invoke(primary);
            }
            if (i % 2 == 0) primary.Writer.PrepareSpace();
            Trim(primary);
        }
        if (primary.Writer.AppendMark()) TryCommit(primary);
        Recycled += primary.Writer.Metrics.Recycled;
        process.Kill();
    }

    /// <summary>Appends until there is no room, and returns how many records that were.</summary>
    public int Fill(Primary primary)
    {
        for (int filled = 0; ; filled++)
        {
            if (primary.TryAppend(Body(700)) is not { } record) return filled;
            Appended.Add(record);
        }
    }

    private byte[] Body(int bytes)
    {
        byte[] body = new byte[bytes];
        Array.Fill(body, (byte)(Appended.Count + 1));
        return body;
    }

    private void Append(Primary primary, int bytes)
    {
        byte[] body = Body(bytes);
        Appended.Add(bytes > Options.PageBytes / 2 ? primary.AppendSpanning(body) : primary.Append(body));
    }

    /// <summary>Commits; returns false when the disk is full and what is not committed waits.</summary>
    public bool TryCommit(Primary primary)
    {
        while (primary.Next() is { } group)
        {
            Primary.Steps(group);
            primary.Writer.Complete(group);
            Durable = Appended.Count(r => r.Lsn < primary.Writer.Durable);
        }
        if (!primary.Writer.IsAwaitingSpace) return true;
        Assert.True(Shortages < 100, "the disk stays full");
        return false;
    }

    private void Trim(Primary primary)
    {
        while (primary.Log.Chain.Segments is [var oldest, var next, ..] segments && segments.Length > KeptSegments
            && next.FirstLsn <= primary.Writer.Stated)
        {
            Released = next.FirstLsn;
            primary.Writer.Release(oldest);
        }
    }
}
