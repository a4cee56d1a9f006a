namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A ledger's real log, cut or damaged. Behind the last position that the log itself states as durable nothing was promised: it recovers,
/// loudly. Before it: the process halts, and says where.
/// </summary>
public sealed class DamageTests(ITestOutputHelper output)
{
    private const int DamageExitCode = 65;

    [Fact]
    public void Log_CutBehindTheLastStatedPosition_RecoversLoudly()
    {
        var chance = new Chance();
        output.WriteLine($"seed {chance.Seed}");
        using var cluster = new Cluster();
        Replica ledger = KilledAtWork(cluster);
        string segment = LogFile.Newest(ledger.LogDirectory);
        List<PageAt> pages = LogFile.Pages(segment);
        long stated = StatedOffset(pages), end = pages[^1].End;
        Assert.True(stated < end, "the last page states itself as durable");
        byte[] whole = File.ReadAllBytes(segment)[..(int)end];
        string kept = Keep(ledger);

        long inLastPage = pages[^1].Offset + pages[^1].Header.Length - 1;
        long[] cuts = [inLastPage, pages[^1].Offset + 1, pages[^1].Offset + chance.Below(pages[^1].Header.Length - 1) + 1, stated + 1];
        cluster.Run(chance.Again(nameof(Log_CutBehindTheLastStatedPosition_RecoversLoudly)), () =>
        {
            foreach (long cut in cuts)
            {
                PutBack(ledger, kept);
                WriteCut(segment, whole, cut);
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
        byte[] whole = File.ReadAllBytes(segment)[..(int)pages[^1].End];
        string kept = Keep(ledger);

        cluster.Run(chance.Again(nameof(Log_DamagedBeforeTheLastStatedPosition_HaltsNamingFileAndByte)), () =>
        {
            foreach (PageAt page in new[] { promised[0], promised[chance.Below(promised.Count)], promised[^1] })
            {
                PutBack(ledger, kept);
                byte[] damaged = [.. whole];
                damaged[page.Offset + chance.Below(page.Header.Length)] ^= (byte)(1 << chance.Below(8));
                WriteCut(segment, damaged, damaged.Length);
                ledger.Start();
                Assert.Equal(DamageExitCode, ledger.AwaitExit());
                ledger.AwaitLine("reason", line => line.StartsWith("exit 65: ", StringComparison.Ordinal)
                    && line.Contains($"{segment} is damaged at byte ", StringComparison.Ordinal)
                    && line.Contains($"Lsn {page.Header.Lsn}", StringComparison.Ordinal));
            }
        });
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

    private static void WriteCut(string segment, byte[] content, long length)
    {
        using FileStream file = File.Create(segment);
        file.Write(content.AsSpan(0, (int)length));
    }
}
