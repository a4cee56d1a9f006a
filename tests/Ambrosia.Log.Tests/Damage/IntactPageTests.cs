using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A page whose checksums, place and hash are right and which breaks a rule of the format (log-format L4.2): no crash leaves one, so it is
/// a halt for every reader where a damaged page would be cut off.
/// </summary>
public sealed class IntactPageTests
{
    private const string Dir = "/log", Segment = Dir + "/log.1.1";
    private static readonly byte[] s_record = [4, 0, 0, 0, (byte)RecordKind.Run, 0, 0, 0, 1, 2, 3, 4];
    private readonly MemoryFileSystem _fs = new();
    private readonly InstanceIdentity _identity;
    private readonly PageHeader _good; // of a page that may follow the last one

    public IntactPageTests()
    {
        using (Primary primary = Primary.Start(_fs, Dir))
        {
            for (int i = 0; i < 5; i++)
            {
                primary.Append(new byte[100 * i]);
                primary.Commit();
            }
        }
        _identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using LogScan scan = LogScan.Open(_fs, Dir, _identity);
        while (scan.Next()) { }
        PageHeader last = scan.Page.Header;
        _good = last with { Lsn = last.Next, DurableUpTo = last.Lsn, TimeMicros = last.TimeMicros + 1, PreviousHash = scan.Page.Hash };
    }

    public static TheoryData<string> Rules => [.. s_rules.Keys];

    private static readonly Dictionary<string, (Func<PageHeader, PageHeader> Header, byte[] Payload)> s_rules = new()
    {
        ["time goes back"] = (static h => h with { TimeMicros = h.TimeMicros - 2 }, s_record),
        ["continues nothing"] = (static h => h with { Flags = PageFlags.ContinuesSpanning }, s_record),
        ["begins another record than it says"] = (static h => h with { Flags = PageFlags.BeginsSpanning, Remaining = 9 }, s_record),
        ["begins without a record header"] = (static h => h with { Flags = PageFlags.BeginsSpanning, Remaining = 9 }, [1, 2]),
        ["begins a record of no rest"] = (static h => h with { Flags = PageFlags.BeginsSpanning }, s_record),
        ["empty without a mark"] = (static h => h, []),
        ["mark with a record"] = (static h => h with { Flags = PageFlags.DurableMark }, s_record),
        ["record longer than the page"] = (static h => h, [5, .. s_record[1..]]),
        ["kind of a newer version"] = (static h => h, [.. s_record, 0, 0, 0, 0, 99, 0, 0, 0]),
        ["two flags"] = (static h => h with { Flags = PageFlags.DurableMark | PageFlags.BeginsSpanning }, []),
        ["unknown flag"] = (static h => h with { Flags = (PageFlags)8 }, s_record),
        ["a rest without a spanning record"] = (static h => h with { Remaining = 1 }, s_record),
        ["states itself"] = (static h => h with { DurableUpTo = h.Next }, s_record),
        ["states the middle of a page"] = (static h => h with { DurableUpTo = h.DurableUpTo + 1 }, s_record),
        ["longer than any page"] = (static h => h with { Length = LogFormat.PageLengthMax + 1 }, s_record),
    };

    [Theory]
    [MemberData(nameof(Rules))]
    public void Read_IntactPageThatBreaksARule_HaltsThere(string rule)
    {
        (Func<PageHeader, PageHeader> header, byte[] payload) = s_rules[rule];
        Put(_fs, header(Of(_good, payload)), payload);
        (Type Verdict, Lsn Lsn)[] answers = Answers(_fs);
        Assert.All(answers,
            a =>
                Assert.Equal(
                    (typeof(ReadVerdict.Halt),
                        rule.StartsWith("kind", StringComparison.Ordinal) ? _good.Lsn + (PageHeader.Bytes + s_record.Length)
                        : rule.StartsWith("record", StringComparison.Ordinal) ? _good.Lsn + PageHeader.Bytes : _good.Lsn), a));
    }

    /// <summary>
    /// The controls: the same page without the broken rule is read, and with a bit of its content wrong it is a torn one.
    /// </summary>
    [Theory]
    [MemberData(nameof(Rules))]
    public void Read_GoodOrTornPage_IsNoHalt(string rule)
    {
        MemoryFileSystem good = _fs.Copy(), torn = _fs.Copy();
        Put(good, Of(_good, s_record), s_record);
        Assert.All(Answers(good), a => Assert.Equal((typeof(ReadVerdict.CleanEnd), _good.Lsn + LogFormat.BlockBytes), a));
        (Func<PageHeader, PageHeader> header, byte[] payload) = s_rules[rule];
        bool isHeader = payload.Length == 0
            || rule is "longer than any page" or "states itself" or "two flags" or "unknown flag" or "a rest without a spanning record"
                or "mark with a record" or "begins a record of no rest";
        Put(torn, header(Of(_good, payload)), payload, flipAt: isHeader ? 17 : PageHeader.Bytes + 1);
        Assert.All(Answers(torn), a => Assert.Equal((typeof(ReadVerdict.TornTail), _good.Lsn), a));
    }

    /// <summary>Behind a torn page it is judged by what it states: it was written, and so was what it says.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Read_IntactPageBehindATornOne_CountsByWhatItStates(bool statesMore)
    {
        byte[] newer = s_rules["kind of a newer version"].Payload;
        Put(_fs, Of(_good, s_record), s_record, flipAt: 70);
        PageHeader behind = Of(_good, newer) with { Lsn = _good.Lsn + LogFormat.BlockBytes };
        Put(_fs, behind with { DurableUpTo = statesMore ? behind.Lsn : _good.Lsn }, newer);
        Assert.All(Answers(_fs), a => Assert.Equal((statesMore ? typeof(ReadVerdict.Halt) : typeof(ReadVerdict.TornTail), _good.Lsn), a));
    }

    private static PageHeader Of(PageHeader header, byte[] payload) =>
        header with { Length = PageHeader.Bytes + payload.Length, PayloadCrc = Crc32C.Of(payload) };

    private void Put(MemoryFileSystem fs, PageHeader header, byte[] payload, int? flipAt = null)
    {
        byte[] page = new byte[LogFormat.BlockBytes];
        payload.CopyTo(page, PageHeader.Bytes);
        header.Write(page, PageHeader.SeedOf(_identity.Uuid, _identity.Shard));
        if (flipAt is { } at) page[at] ^= 1;
        byte[] bytes = fs.Content(Segment);
        int offset = SegmentHeader.Bytes + (int)header.Lsn.Value;
        Array.Resize(ref bytes, Math.Max(bytes.Length, offset + page.Length));
        page.CopyTo(bytes, offset);
        fs.SetContent(Segment, bytes);
    }

    /// <summary>Returns what a scan, a take-over and a reader say, and where.</summary>
    private (Type Verdict, Lsn Lsn)[] Answers(MemoryFileSystem fs)
    {
        using LogScan scan = LogScan.Open(fs, Dir, _identity);
        while (scan.Next()) { }
        return [Of(scan.Verdict!), Of(TakeOver(fs.Copy())), Of(ReadOn(fs, scan.Verdict!))];
    }

    private static (Type, Lsn) Of(ReadVerdict verdict) =>
        (verdict.GetType(), verdict is ReadVerdict.Halt halt ? halt.Damage.Lsn!.Value : verdict.End);

    private static ReadVerdict TakeOver(MemoryFileSystem fs)
    {
        try
        {
            fs.FreeLocks();
            using Primary primary = Primary.Start(fs, Dir);
            return primary.Log.Tail;
        }
        catch (LogDamage damage)
        {
            return new ReadVerdict.Halt(default, damage, default);
        }
    }

    /// <summary>A follower's reader, which waits where a scan cuts.</summary>
    private static ReadVerdict ReadOn(MemoryFileSystem fs, ReadVerdict scanned)
    {
        try
        {
            LogContent.Read(fs, Dir, out Lsn end);
            Assert.Equal(scanned.End, end);
            return scanned is ReadVerdict.Halt ? new ReadVerdict.CleanEnd(end, default) : scanned;
        }
        catch (LogDamage damage)
        {
            return new ReadVerdict.Halt(default, damage, default);
        }
    }
}
