using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Every way to tear or damage a small log: what comes back is all of it, a loud cut behind everything that the log states as durable, or a
/// halt (I18), through a whole take-over and a reader of what it made; <see cref="EveryLengthTests"/> and its neighbours have every length
/// and bit. The oracle knows the records of the undamaged log and where each page begins; it is itself tested with wrong answers.
/// </summary>
public sealed class DamagedLogTests
{
    private const string Dir = "/log", Segment = Dir + "/log.1.1";
    private static readonly Lazy<Original> s_original = new(Original.Make);

    public static TheoryData<string> Fills => ["zeros", "random"];

    [Theory]
    [MemberData(nameof(Fills))]
    public void Recover_TornAtManyLengths_LosesNothingStatedBefore(string fill)
    {
        Original log = s_original.Value;
        var seen = new HashSet<string>();
        Parallel.For(0, (log.Bytes.Length - SegmentHeader.Bytes) / 64, i =>
        {
            int length = SegmentHeader.Bytes + i * 64;
            byte[] bytes = [.. log.Bytes];
            if (fill == "zeros") bytes.AsSpan(length).Clear();
            if (fill == "random") new Random(length).NextBytes(bytes.AsSpan(length));
            string answer = log.Check(bytes, length);
            lock (seen) seen.Add(answer);
        });
        Assert.Contains("cut", seen);
        Assert.Equal(fill != "random", seen.Contains("whole")); // a log torn between two pages looks like one that ended there
    }

    [Fact]
    public void Recover_EveryBlockDamaged_HaltsBelowTheLastStatedPositionAndCutsAbove()
    {
        Original log = s_original.Value;
        var seen = new HashSet<string>();
        for (int block = SegmentHeader.Bytes; block < log.Bytes.Length; block += 4_096)
        {
            foreach (int size in new[] { 512, 4_096 })
            {
                byte[] bytes = [.. log.Bytes];
                new Random(block).NextBytes(bytes.AsSpan(block, size));
                seen.Add(log.Check(bytes, block));
                bytes.AsSpan(block, size).Clear(); // a write that the device forgot
                seen.Add(log.Check(bytes, block));
            }
        }
        Assert.Superset(new HashSet<string> { "cut", "halt" }, seen);
    }

    [Fact]
    public void Recover_FlippedBits_NeverPassUnnoticed()
    {
        Original log = s_original.Value;
        var random = new Random(11);
        for (int i = 0; i < 4_000; i++)
        {
            byte[] bytes = [.. log.Bytes];
            int at = random.Next(SegmentHeader.Bytes, bytes.Length);
            bytes[at] ^= (byte)(1 << random.Next(8));
            Assert.NotEqual("whole", log.Check(bytes, at));
        }
    }

    [Fact]
    public void Recover_SwappedDoubledAndStalePages_NeverPassUnnoticed()
    {
        Original log = s_original.Value;
        for (int i = 0; i < log.Pages.Count; i++)
        {
            for (int j = 0; j < log.Pages.Count; j++)
            {
                if (i == j) continue;
                byte[] bytes = [.. log.Bytes];
                int to = Original.Offset(log.Pages[i].Lsn), from = Original.Offset(log.Pages[j].Lsn);
                int size = Math.Min(log.Pages[i].Footprint, log.Pages[j].Footprint);
                log.Bytes.AsSpan(from, size).CopyTo(bytes.AsSpan(to));
                Assert.NotEqual("whole", log.Check(bytes, to));
            }
        }
    }

    [Fact]
    public void Recover_GroupThatReachedTheDiskInPart_CutsAndNeverBringsTheRestBack()
    {
        Original log = s_original.Value;
        PageHeader first = log.Pages.First(p => p.Lsn == log.Stated);
        byte[] bytes = [.. log.Bytes];
        bytes.AsSpan(Original.Offset(first.Lsn), first.Footprint).Clear(); // of the last group only the first page is missing
        MemoryFileSystem fs = log.Copy(bytes);
        using (Primary primary = Primary.Start(fs, Dir))
        {
            var cut = Assert.IsType<ReadVerdict.TornTail>(primary.Log.Tail);
            Assert.Equal((first.Lsn, Segment, (long)Original.Offset(first.Lsn)), (cut.At, cut.File, cut.Offset));
            Assert.Equal(log.Bytes.Length - Original.Offset(first.Lsn), cut.Bytes);
            primary.Append(new byte[5_000]); // a page of another size over the dropped ones
            primary.Commit();
        }
        Assert.Equal(log.RecordsBelow(first.Lsn), LogContent.Read(fs, Dir)[..^1]);
    }

    [Fact]
    public void Read_DamageBelowTheSealOfALaterSegment_Halts()
    {
        Original log = s_original.Value;
        MemoryFileSystem fs = log.Copy(log.Bytes);
        Primary.Start(fs, Dir).Dispose();
        foreach (PageHeader page in log.Pages.Where(p => p.Lsn < log.Stated))
        {
            MemoryFileSystem damaged = fs.Copy();
            byte[] bytes = damaged.Content(Segment);
            bytes[Original.Offset(page.Lsn) + 70] ^= 4;
            damaged.SetContent(Segment, bytes);
            LogDamage damage = Assert.Throws<LogDamage>(() => LogContent.Read(damaged, Dir));
            Assert.Equal((Segment, (long)Original.Offset(page.Lsn), page.Lsn), (damage.File, damage.Offset, damage.Lsn));
        }
    }

    [Fact]
    public void Oracle_WrongAnswers_AreNoticed()
    {
        Original log = s_original.Value;
        Lsn last = log.Pages[^1].Lsn;
        Lsn early = log.Pages[1].Lsn;
        int lastOffset = Original.Offset(last);
        // a silent cut, a cut of what was stated, a halt where nothing is stated, a history that is not a prefix, and
        // no answer to damage at all
        Assert.ThrowsAny<Exception>(
            () => log.Judge(new ReadVerdict.CleanEnd(last, log.Stated), log.RecordsBelow(last), null, lastOffset + 70));
        Assert.ThrowsAny<Exception>(
            () => log.Judge(
                new ReadVerdict.TornTail(early, 1, Segment, 0, "", early), log.RecordsBelow(early), null, Original.Offset(early)));
        Assert.ThrowsAny<Exception>(() => log.Judge(null, null, new LogDamage(Segment, lastOffset, last, "", ""), lastOffset));
        Assert.ThrowsAny<Exception>(
            () =>
                log.Judge(new ReadVerdict.TornTail(last, 1, Segment, lastOffset, "", log.Stated), log.RecordsBelow(last)[1..],
                    null, lastOffset));
        Assert.ThrowsAny<Exception>(() => log.Judge(new ReadVerdict.CleanEnd(log.End, log.Stated), log.Records, null, lastOffset));
    }

    /// <summary>A log of 64 KiB in one segment: several groups, a mark, a spanning record, and a last group of several pages.</summary>
    private sealed class Original
    {
        private readonly MemoryFileSystem _fs = new();

        /// <summary>The header and the pages; zeros follow in the file, to its length.</summary>
        public byte[] Bytes { get; private set; } = [];
        public List<LoggedRecord> Records { get; private set; } = [];
        public List<PageHeader> Pages { get; } = [];
        public Lsn Stated { get; private set; }
        public Lsn End { get; private set; }

        public static Original Make()
        {
            var log = new Original();
            var random = new Random(3);
            using (Primary primary = Primary.Start(log._fs, Dir, Primary.Small with { PageBytes = 8_192 }))
            {
                for (int i = 0; i < 4; i++)
                {
                    log.Append(primary, random, 60 + 900 * i);
                    primary.Commit();
                }
                byte[] spanning = new byte[15_000];
                random.NextBytes(spanning);
                primary.AppendSpanning(spanning);
                primary.Commit();
                primary.Writer.AppendMark();
                primary.Commit();
                log.Append(primary, random, 3_000);
                primary.Commit();
                for (int i = 0; i < 4; i++) log.Append(primary, random, 4_500); // one group of three pages; the fourth is open and lost
                primary.Writer.Begin(out CommitGroup? group);
                Assert.Equal(3, group!.PageCount);
                Primary.Steps(group);
            }
            log.Finish();
            return log;
        }

        public static int Offset(Lsn lsn) => SegmentHeader.Bytes + (int)lsn.Value;

        public List<LoggedRecord> RecordsBelow(Lsn lsn) => [.. Records.Where(r => r.Lsn < lsn)];

        public MemoryFileSystem Copy(byte[] bytes)
        {
            MemoryFileSystem fs = _fs.Copy();
            byte[] whole = new byte[fs.Content(Segment).Length];
            bytes.CopyTo(whole, 0);
            fs.SetContent(Segment, whole);
            return fs;
        }

        /// <summary>
        /// Recovers from <paramref name="bytes"/>, which differ from the log from <paramref name="damagedFrom"/> on; what came of it.
        /// </summary>
        public string Check(byte[] bytes, int damagedFrom)
        {
            MemoryFileSystem fs = Copy(bytes);
            try
            {
                using Primary primary = Primary.Start(fs, Dir);
                return Judge(primary.Log.Tail, LogContent.Read(fs, Dir), null, damagedFrom, bytes);
            }
            catch (LogDamage damage)
            {
                return Judge(null, null, damage, damagedFrom, bytes);
            }
        }

        public string Judge(ReadVerdict? verdict, List<LoggedRecord>? records, LogDamage? damage, int damagedFrom, byte[]? bytes = null)
        {
            // zeros over zeros damage nothing
            if (bytes is not null) damagedFrom = Math.Min(bytes.AsSpan().CommonPrefixLength(Bytes), Bytes.Length - 1);
            PageHeader hit = Pages.Last(p => Offset(p.Lsn) <= damagedFrom);
            bool isUntouched = bytes is not null && bytes.Length >= Bytes.Length && bytes.AsSpan(0, Bytes.Length).SequenceEqual(Bytes);
            if (damage is not null)
            {
                Assert.True(hit.Lsn < Stated, $"halt at {damage.Lsn} although only {Stated} is stated");
                Assert.Equal(Segment, damage.File);
                Assert.True(damage.Lsn <= Stated && damage.Offset == Offset(damage.Lsn!.Value));
                return "halt";
            }
            Assert.NotNull(records);
            Assert.NotNull(verdict);
            Assert.Equal(Records[..records.Count], records);
            Lsn whole = isUntouched ? End : FirstOf(hit);
            Assert.Equal(whole, verdict.End);
            Assert.Equal(RecordsBelow(whole), records);
            // A log that ends where a page or group ended before is a whole log: then nothing that stands in the file is dropped.
            bool isAnythingLeft = !isUntouched
                && (bytes is null || bytes.AsSpan(Math.Min(bytes.Length, Offset(whole))).ContainsAnyExcept((byte)0));
            Assert.Equal(isAnythingLeft, verdict is ReadVerdict.TornTail);
            if (verdict is not ReadVerdict.TornTail cut) return "whole";
            Assert.Equal((Segment, (long)Offset(whole)), (cut.File, cut.Offset));
            Assert.True(cut.Bytes > 0 && cut.Reason.Length > 0);
            if (bytes is { } now && now.Length == Bytes.Length) AssertNothingStatedIsCut(now, whole);
            return "cut";
        }

        /// <summary>What is cut lies above every durableUpTo that can still be read behind it.</summary>
        private void AssertNothingStatedIsCut(byte[] now, Lsn cut)
        {
            foreach (PageHeader page in Pages.Where(p => p.Lsn > cut))
            {
                int from = Offset(page.Lsn);
                if (now.AsSpan(from, page.Footprint).SequenceEqual(Bytes.AsSpan(from, page.Footprint)))
                    Assert.True(page.DurableUpTo <= cut, $"cut at {cut} although the page at {page.Lsn} states {page.DurableUpTo}");
            }
        }

        /// <summary>The log ends here when this page is bad: before the spanning record that it is part of.</summary>
        private Lsn FirstOf(PageHeader page)
        {
            int i = Pages.IndexOf(page);
            while (Pages[i].Flags == PageFlags.ContinuesSpanning) i--;
            return Pages[i].Lsn;
        }

        private void Append(Primary primary, Random random, int size)
        {
            byte[] body = new byte[size];
            random.NextBytes(body);
            primary.Append(body);
        }

        private void Finish()
        {
            Records = LogContent.Read(_fs, Dir, out Lsn end);
            End = end;
            InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
            using var reader = new LogReader(_fs, Dir, identity, LogChain.Load(_fs, Dir, identity));
            var buffer = new PageBuffer();
            for (Lsn at = Lsn.Zero; reader.Read(at, ref buffer) == ReadStatus.Page; at = buffer.Next) Pages.Add(buffer.Header);
            Stated = Pages.Max(p => p.DurableUpTo);
            Bytes = _fs.Content(Segment)[..Offset(end)];
        }
    }
}
