using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Recovery;

/// <summary>
/// Reads the chain's last segment to the log's end and classifies what stands there (log-format L8.1, L8.2). It begins where a checkpoint
/// states the hash of what lies before, or where a follower has seen it stated, or else at the segment's beginning. Earlier segments lie
/// below a seal, so they have no tail; the replay reader checks them. One thread, one use.
/// </summary>
internal sealed class TailScan
{
    private readonly LogLocation _location;
    private readonly LogSegment _head;
    private readonly PageInspector _inspector;
    private readonly PageSequence _pages = new();
    private readonly FollowedTail? _followed;
    private ReadAhead? _ahead;

    /// <param name="followed">What is known of the head already; ignored if it is about another segment.</param>
    public TailScan(LogLocation location, LogSegment head, FollowedTail? followed = null)
    {
        _location = location;
        _head = head;
        _inspector = new PageInspector(head);
        _followed = followed?.Head == head.Name ? followed : null;
        _pages.Begin(head.Header);
    }

    /// <summary>The highest durableUpTo found, which becomes the seal of the take-over.</summary>
    public Lsn DurableUpTo => _pages.Stated;

    /// <summary>The hash of the page before <see cref="DurableUpTo"/>.</summary>
    public ulong SealHash => _pages.StatedHash ?? throw new InvalidOperationException($"the hash before {DurableUpTo} is not known");

    public Lsn End => _pages.Next;

    /// <summary>
    /// The place of the first page that is missing or torn: the end, or behind it where the last record is incomplete.
    /// </summary>
    public Lsn PagesEnd { get; private set; }

    /// <summary>The hash of the last page of the log.</summary>
    public ulong LastHash => _pages.Hash ?? throw new InvalidOperationException($"the hash before {End} is not known");

    /// <summary>
    /// No page of the log has a later time, in µs since 1970. A segment is never created before the times that stand before it.
    /// </summary>
    public long LastTimeMicros => Math.Max(_head.Header.CreatedMicros, _pages.TimeMicros);

    /// <summary>The valid pages that nothing states as durable: the take-over logs them again.</summary>
    public IReadOnlyList<TailPage> Tail => _pages.Unstated;

    /// <summary>The number of bytes of pages that were read and checked.</summary>
    public long BytesRead { get; private set; }

    /// <summary>Reads to the end.</summary>
    /// <exception cref="LogDamage">A page is damaged that something states as durable.</exception>
    public ReadVerdict Read(ref PageBuffer buffer)
    {
        using IFile file = _location.Files.Open(_head.Path, FileUse.ReadPages);
        _head.CheckLength(file);
        _ahead = new ReadAhead(file);
        if (_followed is not null) BeginFollowed(_followed);
        else if (NewestCheckpointInHead() is not { } checkpoint || !TryBeginAt(file, checkpoint, ref buffer)) _pages.Begin(_head.Header);
        PageFault? fault;
        while ((fault = Next(file, ref buffer)) is null) Accept(buffer);
        Lsn damage = PagesEnd = End;
        _pages.DropIncomplete(_head);
        ReadVerdict verdict = new TailClassifier(_location, _inspector).Classify(file, _pages, damage, fault, ref buffer);
        return verdict is ReadVerdict.Halt halt ? throw halt.Damage : verdict;
    }

    private void BeginFollowed(FollowedTail followed)
    {
        _pages.Begin(followed.Stated, followed.PreviousHash, followed.TimeMicros);
        _pages.BeginStated();
    }

    /// <summary>
    /// Returns the newest checkpoint whose page stands in this segment. It has its name only because everything below its Lsn was stated as
    /// durable (L6.7), and a page states only what lies below itself; so every higher statement stands from that page on.
    /// </summary>
    private CheckpointHeader? NewestCheckpointInHead()
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(_location.Files, _location.Directory))
        {
            if (name.Lsn < _head.FirstLsn) return null;
            if (CheckpointReader.TryReadHeader(_location, name) is { } header && header.PageLsn > _head.FirstLsn) return header;
        }
        return null;
    }

    /// <summary>
    /// Begins at a checkpoint's page. Returns false when the page is not there as the checkpoint has it: then the whole segment is read,
    /// and classified by what it states itself.
    /// </summary>
    private bool TryBeginAt(IFile file, CheckpointHeader checkpoint, ref PageBuffer buffer)
    {
        _pages.Begin(checkpoint.PageLsn, checkpoint.PreviousHash);
        _pages.BeginStated();
        if (Next(file, ref buffer) is not null) return false;
        Accept(buffer);
        return true;
    }

    private PageFault? Next(IFile file, ref PageBuffer buffer)
    {
        _ahead!.From(_head.Header.OffsetOf(End));
        return _inspector.Read(file, End, new Lsn(ulong.MaxValue), LastHash, ref buffer) ?? _pages.Check(buffer);
    }

    private void Accept(PageBuffer page)
    {
        _pages.Accept(page, _head);
        BytesRead += page.Header.Footprint;
    }
}
