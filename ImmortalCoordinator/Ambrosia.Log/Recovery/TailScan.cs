using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Reads the chain's last segment from its beginning to the log's end and judges what stands there (log-format L8.1, L8.2).
/// Earlier segments lie below a seal, so they have no tail; the replay reader checks them.
/// Invariant: <c>_tail</c> holds, in order and without gaps, the valid pages from <c>DurableUpTo</c> on.
/// </summary>
internal sealed class TailScan
{
    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly InstanceIdentity _identity;
    private readonly LogSegment _head;
    private readonly PageInspector _inspector;
    private readonly long _created;
    private readonly List<TailPage> _tail = [];

    // Of the spanning record that the last page read is part of: where it began, what is missing. 0 missing: none.
    private Lsn _spanningFrom;
    private uint _missing;
    private long _lastTimeMicros;

    public TailScan(IFileSystem fs, string dir, InstanceIdentity identity, LogSegment head)
    {
        _fs = fs;
        _dir = dir;
        _identity = identity;
        _head = head;
        _inspector = new PageInspector(head);
        DurableUpTo = End = head.FirstLsn;
        _created = head.Header.CreatedMicros;
        SealHash = LastHash = head.Header.PredecessorHash;
    }

    /// <summary>Highest durableUpTo found; the seal of the take-over.</summary>
    public Lsn DurableUpTo { get; private set; }

    /// <summary>Hash of the page before <see cref="DurableUpTo"/>.</summary>
    public ulong SealHash { get; private set; }

    public Lsn End { get; private set; }

    /// <summary>Hash of the last page of the log.</summary>
    public ulong LastHash { get; private set; }

    /// <summary>µs: no page of the log has a later time. A segment is never created before the times that stand before it.</summary>
    public long LastTimeMicros => Math.Max(_created, _lastTimeMicros);

    /// <summary>Valid pages that nothing states as durable: to be logged again.</summary>
    public IReadOnlyList<TailPage> Tail => _tail;

    /// <exception cref="LogDamage">A page is damaged that something states as durable.</exception>
    public ReadVerdict Run(ref PageBuffer buffer)
    {
        using IFile file = _fs.Open(_head.Path, FileUse.Read);
        PageFault? fault;
        while ((fault = Next(file, ref buffer)) is null) Accept(buffer);
        Lsn damage = End;
        if (_missing != 0) DropIncomplete();
        return Judge(file, damage, fault, ref buffer);
    }

    private PageFault? Next(IFile file, ref PageBuffer buffer)
    {
        if (_inspector.Read(file, End, new Lsn(ulong.MaxValue), LastHash, ref buffer) is { } fault) return fault;
        bool continues = buffer.Flags == PageFlags.ContinuesSpanning;
        uint part = (uint)(buffer.Length - PageHeader.Bytes);
        if (continues != (_missing != 0) || (continues && part + (ulong)buffer.Remaining != _missing))
            return new PageFault($"a page after which {_missing} bytes of a spanning record end", $"flags {buffer.Flags}, {part} bytes, remaining {buffer.Remaining}");
        if (buffer.TimeMicros < _lastTimeMicros) return new PageFault($"a time from {_lastTimeMicros} on", $"{buffer.TimeMicros}");
        return null;
    }

    private void Accept(PageBuffer page)
    {
        if (page.Flags == PageFlags.BeginsSpanning) _spanningFrom = page.Lsn;
        _missing = page.Remaining;
        _tail.Add(new TailPage(page.Header, page.Hash));
        End = page.Next;
        LastHash = page.Hash;
        _lastTimeMicros = page.TimeMicros;
        if (page.DurableUpTo > DurableUpTo) Seal(page);
    }

    /// <summary>A higher durableUpTo: it is a boundary between pages of this segment.</summary>
    private void Seal(PageBuffer page)
    {
        int below = _tail.FindIndex(p => p.Header.Lsn >= page.DurableUpTo);
        if (below < 0 || _tail[below].Header.Lsn != page.DurableUpTo || _tail[below].Header.Flags == PageFlags.ContinuesSpanning)
            throw Damage(page.Lsn, "durableUpTo at the beginning of a page and outside of records", $"{page.DurableUpTo}");
        DurableUpTo = page.DurableUpTo;
        SealHash = page.DurableUpTo == page.Lsn ? page.PreviousHash : _tail[below - 1].Hash;
        _tail.RemoveRange(0, below);
    }

    /// <summary>L4.3: a tail that ends in an incomplete spanning record ends before its first page.</summary>
    private void DropIncomplete()
    {
        int first = _tail.FindIndex(p => p.Header.Lsn == _spanningFrom);
        if (first < 0) throw Damage(_spanningFrom, "a seal outside of records", $"one at {DurableUpTo}");
        LastHash = _tail[first].Header.PreviousHash;
        _tail.RemoveRange(first, _tail.Count - first);
        End = _spanningFrom;
    }

    /// <summary>The log ends at <see cref="End"/>, unless something states a position behind the damage.</summary>
    private ReadVerdict Judge(IFile file, Lsn damage, PageFault? fault, ref PageBuffer buffer)
    {
        var search = new BehindSearch(_inspector, file);
        search.Run(damage, ref buffer);
        if (search.Stated > damage) throw Damage(damage, $"{fault!.Expected}, because the page at {search.StatedBy} states {search.Stated} as durable", fault.Found);
        if (HigherCheckpoint(End) is { } checkpoint) throw Damage(damage, $"{fault!.Expected}, because {checkpoint} contains what was logged there", fault.Found);
        if (search.ContentEnd == End) return new ReadVerdict.Whole(End, DurableUpTo);
        string reason = End < damage
            ? $"the spanning record there is incomplete: {_missing} bytes of it are missing behind {damage}"
            : $"expected {fault!.Expected}, found {fault.Found}";
        return new ReadVerdict.Cut(End, search.ContentEnd - End, _head.Path, _head.Header.OffsetOf(End), reason, DurableUpTo);
    }

    /// <summary>A valid checkpoint of a position behind the end: it got its name only when that position was stated as durable.</summary>
    private CheckpointFileName? HigherCheckpoint(Lsn end)
    {
        foreach (CheckpointFileName name in Checkpoints.List(_fs, _dir))
            if (name.Lsn > end && Checkpoints.IsValid(_fs, _dir, name, _identity)) return name;
        return null;
    }

    private LogDamage Damage(Lsn lsn, string expected, string found) => new(_head.Path, _head.Header.OffsetOf(lsn), lsn, expected, found);
}
