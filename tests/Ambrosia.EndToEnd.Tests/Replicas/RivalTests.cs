using System.Diagnostics;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Several coordinators that do not care for locks fight for one log: the fence alone keeps one history.</summary>
public sealed class RivalTests(ITestOutputHelper output) : ReplicaTests
{
    private const int SecondsOfARelease = 60, SecondsMin = 5, Rivals = 3, Readers = 5, NotPrimary = 75;

    [Fact]
    public void Rivals_IgnoringLocksUnderLoad_MakeOneHistory()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(RivalTests)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--ignore-lock", "--retain", "all");
            ledger.Start(1);
            source.Start(1);
            while (ledger.Members.Count < Rivals) ledger.Add();
            using var follower = new HistoryReader(ledger.Members[0].LogDirectory);
            var histories = new List<IReadOnlyList<PageOfHistory>>();
            int exits = 0, seconds = Math.Max(SecondsMin, TestScale.Rounds(SecondsOfARelease));
            long begun = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(begun) < TimeSpan.FromSeconds(seconds))
            {
                chance.PassTime(150);
                follower.Advance();
                if (histories.Count < Readers
                    && Stopwatch.GetElapsedTime(begun) > TimeSpan.FromSeconds(seconds) * histories.Count / Readers)
                    histories.Add(ReadAnew(ledger));
                foreach (Replica member in ledger.Members)
                {
                    if (member.IsRunning) continue;
                    if (member.StartedAt > 0 || member.Lines.Count > 0)
                        Assert.Equal((NotPrimary, exits), (member.Coordinator.ExitCode, exits++));
                    member.Start();
                }
            }
            output.WriteLine($"{exits} primaries were pushed aside in {seconds} s");
            Assert.True(exits > 0, "nobody was pushed aside: nothing was tested");
            ledger.KillAll();
            Replica last = ledger.Members[0].Start();
            last.AwaitReady();
            AssertOneWriterAnEpoch(last);
            histories.Add(follower.Advance().Pages);
            IReadOnlyList<PageOfHistory> whole = ReadAnew(ledger);
            Assert.All(histories, history => Assert.Null(HistoryReader.Difference(history, whole)));
            output.WriteLine(
                $"{histories.Count} readers had {string.Join(", ", histories.Select(static h => h.Count))} of {whole.Count} pages");
            AssertDifferencesAreFound(whole);
            Finish(cluster, source);
        });
    }

    private static IReadOnlyList<PageOfHistory> ReadAnew(ReplicaSet set)
    {
        using var reader = new HistoryReader(set.Members[0].LogDirectory);
        return reader.Advance().Pages;
    }

    /// <summary>Negative control: one page that is another is found, wherever it is.</summary>
    private static void AssertDifferencesAreFound(IReadOnlyList<PageOfHistory> history)
    {
        foreach (int at in new[] { 0, history.Count / 2, history.Count - 1 })
        {
            PageOfHistory[] other = [.. history];
            other[at] = other[at] with { Records = "" };
            Assert.NotNull(HistoryReader.Difference(other, history));
        }
    }

    /// <summary>The chain's segments name their epoch; of each epoch all stand one behind another.</summary>
    private static void AssertOneWriterAnEpoch(Replica member)
    {
        var epochs = Directory.EnumerateFiles(member.LogDirectory, "log.*.*")
            .Select(static path => Path.GetFileName(path).Split('.')).Where(static parts => parts.Length == 3)
            .Select(static parts => (Number: ulong.Parse(parts[1]), Epoch: ulong.Parse(parts[2]))).ToList();
        foreach (var ofEpoch in epochs.GroupBy(static file => file.Epoch))
            Assert.Equal(ofEpoch.Count(), ofEpoch.Select(static file => file.Number).Distinct().Count());
    }
}
