using Ambrosia.Log.Format;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Knows what the pages read so far say about the next one: position, chain hash, rest of a spanning record, and time (log-format L4); and
/// which pages nothing states as durable yet. It uses 80 bytes for each unstated page, so the memory of a commit group or two. One thread.
/// Invariant: <c>_unstated</c> holds, in order and without gaps, the pages from <see cref="Stated"/>, or from where reading began, to
/// <see cref="Next"/>.
/// </summary>
internal sealed class PageSequence
{
    private readonly List<TailPage> _unstated = [];
    private Lsn _from;

    /// <summary>The position where the next page begins.</summary>
    public Lsn Next { get; private set; }

    /// <summary>The hash of the page before <see cref="Next"/>; null when it is not known.</summary>
    public ulong? Hash { get; private set; }

    /// <summary>The number of bytes of a spanning record that are still to come; 0 when there is none.</summary>
    public uint Missing { get; private set; }

    /// <summary>The position where the last spanning record began.</summary>
    public Lsn SpanningFrom { get; private set; }

    /// <summary>The time of the last page, µs since 1970.</summary>
    public long TimeMicros { get; private set; }

    /// <summary>The app version in force behind the last page; null when it is not known.</summary>
    public uint? AppVersion { get; private set; }

    /// <summary>The highest position that a page or a seal states as durable.</summary>
    public Lsn Stated { get; private set; }

    /// <summary>The hash of the page before <see cref="Stated"/>; null when it is not known.</summary>
    public ulong? StatedHash { get; private set; }

    /// <summary>The pages that nothing states as durable.</summary>
    public IReadOnlyList<TailPage> Unstated => _unstated;

    /// <summary>Begins at the first page of a segment, whose header states its position and the hash before it.</summary>
    public void Begin(SegmentHeader header)
    {
        long time = header.FirstLsn == Next ? TimeMicros : 0;
        Begin(header.FirstLsn, header.PredecessorHash);
        BeginStated();
        TimeMicros = time;
        AppVersion = header.AppVersion;
    }

    /// <summary>Begins anywhere outside of spanning records, where what stands before is not known.</summary>
    /// <param name="previousHash">Hash of the page before <paramref name="at"/>; null when it is not known.</param>
    /// <param name="timeMicros">No page before has a later time; 0 when that is not known.</param>
    public void Begin(Lsn at, ulong? previousHash, long timeMicros = 0)
    {
        _unstated.Clear();
        Next = _from = at;
        Hash = previousHash;
        Missing = 0;
        TimeMicros = timeMicros;
        AppVersion = null;
        Stated = Lsn.Zero;
        StatedHash = null;
    }

    /// <summary>
    /// Takes everything below the page where reading begins as stated to be durable, by something that is no page: a seal or a checkpoint.
    /// </summary>
    public void BeginStated()
    {
        Stated = _from;
        StatedHash = Hash;
    }

    /// <summary>
    /// Checks that the pages read so far, which end where <paramref name="next"/> begins, are what its seal says stood before it.
    /// </summary>
    /// <exception cref="LogDamage">They are not.</exception>
    public void CheckSeal(LogSegment next)
    {
        if (Hash is { } hash && hash != next.Header.PredecessorHash)
            throw new LogDamage(next.Path, 80, next.FirstLsn, $"hash 0x{hash:X16} of the page before the seal",
                $"0x{next.Header.PredecessorHash:X16}");
        if (AppVersion is { } version && version != next.Header.AppVersion)
            throw new LogDamage(next.Path, 88, next.FirstLsn, $"app version {version}, which is in force before the seal",
                $"{next.Header.AppVersion}");
        if (Missing != 0)
            throw new LogDamage(next.Path, 72, next.FirstLsn, "a seal behind a whole record", $"one with {Missing} bytes missing");
    }

    /// <summary>Checks a page that is valid by itself against the ones before it. The inspector has checked hash and position.</summary>
    public PageFault? Check(PageBuffer page)
    {
        uint part = (uint)(page.Length - PageHeader.Bytes);
        bool continues = page.Flags == PageFlags.ContinuesSpanning;
        if (continues != (Missing != 0) || (continues && part + (ulong)page.Remaining != Missing))
            return new PageFault($"a page after which {Missing} bytes of a spanning record end",
                $"flags {page.Flags}, {part} bytes, remaining {page.Remaining}").OfIntactPage();
        if (page.TimeMicros < TimeMicros) return new PageFault($"a time from {TimeMicros} on", $"{page.TimeMicros}").OfIntactPage();
        return AppVersion is { } version && page.Flags == PageFlags.StatesVersion && page.Header.AppVersion <= version
            ? new PageFault($"an app version above {version}, which is in force", $"{page.Header.AppVersion}").OfIntactPage() : null;
    }

    /// <summary>Takes a checked page in.</summary>
    /// <exception cref="LogDamage">The page states as durable what is no boundary between pages, or lies inside a record (L4,
    /// durableUpTo).</exception>
    public void Accept(PageBuffer page, LogSegment segment)
    {
        if (page.Flags == PageFlags.BeginsSpanning) SpanningFrom = page.Lsn;
        if (page.Flags == PageFlags.StatesVersion) AppVersion = page.Header.AppVersion;
        _unstated.Add(new TailPage(page.Header, page.Hash));
        if (page.DurableUpTo > Stated) State(page, segment);
        Missing = page.Remaining;
        Next = page.Next;
        Hash = page.Hash;
        TimeMicros = page.TimeMicros;
    }

    /// <summary>Drops an incomplete spanning record at the end: such a log ends before the record's first page (L4.3).</summary>
    /// <exception cref="LogDamage">Something states a part of that record as durable.</exception>
    public void DropIncomplete(LogSegment segment)
    {
        if (Missing == 0) return;
        int first = _unstated.FindIndex(p => p.Header.Lsn == SpanningFrom);
        if (first < 0)
            throw new LogDamage(segment.Path, segment.Header.OffsetOf(SpanningFrom), SpanningFrom, "a seal outside of records",
                $"one at {Stated}");
        Hash = _unstated[first].Header.PreviousHash;
        Next = SpanningFrom;
        _unstated.RemoveRange(first, _unstated.Count - first);
    }

    private void State(PageBuffer page, LogSegment segment)
    {
        Lsn stated = page.DurableUpTo;
        if (stated < _from) // the statement is about pages that this reader did not see
        {
            Stated = stated;
            StatedHash = null;
            return;
        }
        int below = _unstated.FindIndex(p => p.Header.Lsn >= stated);
        if (_unstated[below].Header.Lsn != stated || _unstated[below].Header.Flags == PageFlags.ContinuesSpanning)
            throw new LogDamage(segment.Path, segment.Header.OffsetOf(page.Lsn), page.Lsn,
                "durableUpTo at the beginning of a page and outside of records", $"{stated}");
        Stated = stated;
        StatedHash = _unstated[below].Header.PreviousHash;
        _unstated.RemoveRange(0, below);
    }
}

/// <summary>Describes a valid page of the tail by header and hash. The content is read again when the page is logged again.</summary>
internal sealed record TailPage(PageHeader Header, ulong Hash);
