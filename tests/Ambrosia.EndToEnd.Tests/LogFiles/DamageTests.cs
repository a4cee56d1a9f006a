namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A ledger's real log, torn, damaged or cut. Behind the last position that the log itself states as durable a write may be torn: it
/// recovers, loudly. Before it, and where the file itself is shorter than it was made: the process halts, and says where.
/// </summary>
public sealed class DamageTests(ITestOutputHelper output)
{
    private const int DamageExitCode = 65;

    [Fact]
    public void Log_TornBehindTheLastStatedPosition_RecoversLoudly()
    {
        var chance = new Chance();
        output.WriteLine($"seed {chance.Seed}");
        using var cluster = new Cluster();
        Replica ledger = KilledAtWork(cluster);
        string segment = LogFile.Newest(ledger.LogDirectory);
        List<PageAt> pages = LogFile.Pages(segment);
        long stated = StatedOffset(pages), end = pages[^1].End;
        Assert.True(stated < end, "the last page states itself as durable");
        byte[] whole = LogFile.Begin(segment, end);
        string kept = Keep(ledger);

        long inLastPage = pages[^1].Offset + pages[^1].Header.Length - 1;
        long[] tears = [inLastPage, pages[^1].Offset + 1, pages[^1].Offset + chance.Below(pages[^1].Header.Length - 1) + 1, stated + 1];
        cluster.Run(chance.Again(nameof(Log_TornBehindTheLastStatedPosition_RecoversLoudly)), () =>
        {
            foreach (long tear in tears)
            {
                PutBack(ledger, kept);
                Write(segment, whole, tear);
                // The heartbeat, which nobody flushes, says how far the log was durable: it went with the power, as the tail did.
                foreach (string beat in Directory.GetFiles(ledger.LogDirectory, "primary.*")) File.Delete(beat);
                ledger.Start();
                ledger.AwaitLine("line about the torn tail", line =>
                    line.StartsWith("torn tail: dropped ", StringComparison.Ordinal) && line.Contains(segment, StringComparison.Ordinal));
                ledger.AwaitReady();
                ledger.KillCoordinator();
            }
        });
    }

    [Fact]
    public void Log_DamagedBeforeTheLastStatedPosition_HaltsNamingFileAndByte()
    {
        var chance = new Chance();
        output.WriteLine($"seed {chance.Seed}");
        using var cluster = new Cluster();
        Replica ledger = KilledAtWork(cluster);
        string segment = LogFile.Newest(ledger.LogDirectory);
        List<PageAt> pages = LogFile.Pages(segment);
        List<PageAt> promised = pages.FindAll(page => page.End <= StatedOffset(pages));
        Assert.NotEmpty(promised);
        byte[] whole = LogFile.Begin(segment, pages[^1].End);
        string kept = Keep(ledger);

        cluster.Run(chance.Again(nameof(Log_DamagedBeforeTheLastStatedPosition_HaltsNamingFileAndByte)), () =>
        {
            foreach (PageAt page in new[] { promised[0], promised[chance.Below(promised.Count)], promised[^1] })
            {
                PutBack(ledger, kept);
                byte[] damaged = [.. whole];
                damaged[page.Offset + chance.Below(page.Header.Length)] ^= (byte)(1 << chance.Below(8));
                Write(segment, damaged, damaged.Length);
                ledger.Start();
                Assert.Equal(DamageExitCode, ledger.AwaitExit());
                ledger.AwaitLine("reason", line => line.StartsWith("exit 65: ", StringComparison.Ordinal)
                    && line.Contains($"{segment} is damaged at byte ", StringComparison.Ordinal)
                    && line.Contains($"Lsn {page.Header.Lsn}", StringComparison.Ordinal));
            }
        });
    }

    /// <summary>
    /// The last pages hold calls that were acknowledged, and nothing states them. A file that ends before, inside or behind them was cut.
    /// </summary>
    [Fact]
    public void Log_CutBehindTheLastStatedPosition_HaltsNamingFileAndLengths()
    {
        using var cluster = new Cluster();
        Replica ledger = KilledAtWork(cluster);
        string segment = LogFile.Newest(ledger.LogDirectory);
        List<PageAt> pages = LogFile.Pages(segment);
        long whole = new FileInfo(segment).Length;
        string kept = Keep(ledger);
        foreach (long cut in new[] { StatedOffset(pages), pages[^1].Offset + 100, pages[^1].End, whole - 4_096 })
        {
            PutBack(ledger, kept);
            using (FileStream file = File.OpenWrite(segment)) file.SetLength(cut);
            ledger.Start();
            Assert.Equal(DamageExitCode, ledger.AwaitExit());
            ledger.AwaitLine("reason", line => line.StartsWith("exit 65: ", StringComparison.Ordinal)
                && line.Contains(
                    $"{segment} is damaged at byte {cut}: expected a file of {whole} bytes, as its header states, found one of {cut} bytes",
                    StringComparison.Ordinal));
        }
    }

    /// <summary>A ledger with a log of many pages whose last writes were not yet stated as durable.</summary>
    private static Replica KilledAtWork(Cluster cluster)
    {
        (Replica source, Replica ledger) = cluster.Pair(calls: 1000);
        source.Settings["UNTIL"] = cluster.Until;
        ledger.Start();
        source.Start();
        ledger.AwaitReady();
        Cluster.Await("calls are logged", () => LogFile.LastPageEnd(LogFile.Newest(ledger.LogDirectory)) > 40 << 12);
        ledger.KillCoordinator();
        source.KillCoordinator();
        return ledger;
    }

    /// <summary>Where the highest stated durableUpTo stands in the file.</summary>
    private static long StatedOffset(List<PageAt> pages)
    {
        var stated = pages.Max(static page => page.Header.DurableUpTo.Value);
        return pages.Last(page => page.Header.Lsn.Value < stated || page == pages[0]) is var last && last.Header.Next.Value == stated
            ? last.End : pages[0].Offset;
    }

    private static string Keep(Replica replica)
    {
        string kept = replica.LogDirectory + ".kept";
        Copy(replica.LogDirectory, kept);
        Copy(CatalogOf(replica), kept + ".catalog");
        return kept;
    }

    private static void PutBack(Replica replica, string kept)
    {
        Directory.Delete(replica.LogDirectory, recursive: true);
        Copy(kept, replica.LogDirectory);
        Directory.Delete(CatalogOf(replica), recursive: true); // which knows of later epochs, and would have the old log refused
        Copy(kept + ".catalog", CatalogOf(replica));
    }

    private static string CatalogOf(Replica replica) => Path.Combine(Path.GetDirectoryName(replica.LogDirectory)!, "catalog");

    private static void Copy(string from, string to)
    {
        Directory.CreateDirectory(to, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        foreach (string file in Directory.EnumerateFiles(from).Where(static file => !file.EndsWith(".sock", StringComparison.Ordinal)))
            File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
    }

    /// <summary>Puts so much of the content into a segment, with zeros behind it; the file is as long as before.</summary>
    private static void Write(string segment, byte[] content, long length)
    {
        using FileStream file = File.OpenWrite(segment);
        long whole = file.Length;
        file.SetLength(0);
        file.Write(content.AsSpan(0, (int)length));
        file.SetLength(whole);
    }
}
