using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Finds out how far a log that another process writes may be read. It walks the page headers at the tail and follows the chain from
/// segment to segment. The headers alone are enough, since each is bound to its place, is chained to the one before, and states what was
/// durable when it was made. Whoever acts on the pages below <see cref="Stated"/> reads them whole, with every check. One thread steps; any
/// thread reads <see cref="Stated"/>. Invariant: Stated never decreases, and every page below it is there (F3).
/// </summary>
public sealed class LogFollower : IDisposable
{
    /// <summary>
    /// So many steps in a row may find a listing that shows what is not there. The pump pauses between them, for seconds in all.
    /// </summary>
    private const int StaleListingsMax = 500;

    private readonly LogLocation _location;
    private readonly uint _seed;
    private int _staleListings;

    /// <summary>
    /// Headers from <see cref="Stated"/> on in the head segment, oldest first: those of the writer's unstated groups, so they are few.
    /// </summary>
    private readonly Queue<PageHeader> _unstated = new();
    private LogSegment? _head;
    private ReadAhead? _ahead; // of the open file
    private IFile? _file;
    private (Lsn At, ulong HashBefore) _next; // the page that comes next, and the hash of the one before it
    private ulong _stated;

    public LogFollower(IFileSystem fs, string dir, InstanceIdentity identity)
    {
        _location = new LogLocation(fs, dir, identity);
        _seed = PageHeader.SeedOf(identity.Uuid, identity.Shard);
        Chain = LogChain.Load(_location);
    }

    /// <summary>The log's segments, which the follower refreshes.</summary>
    public LogChain Chain { get; }

    /// <summary>The highest position that a page or seal states as durable: a replica may execute what lies below (F3).</summary>
    public Lsn Stated => new(Volatile.Read(ref _stated));

    /// <summary>The epoch of the head segment, which is that of the last take-over; 0 before the first start.</summary>
    public Epoch Epoch => _head?.Header.Epoch ?? new Epoch(0);

    /// <summary>The app version in force where what is stated as durable ends; 0 before the first record.</summary>
    public uint AppVersion => Chain.VersionAt(_location.Files, Stated);

    /// <summary>The distance of digest positions in bytes; null before the log has begun.</summary>
    public ulong? DigestEvery => Chain.Segments is [.., var head] ? head.Header.DigestEvery : null;

    /// <summary>
    /// Where a take-over may begin to read the tail; null means at the head segment's beginning. Only the stepping thread reads it, or
    /// another one after that has ended.
    /// </summary>
    internal FollowedTail? Tail { get; private set; }

    /// <summary>
    /// The last page of the head segment below <see cref="Stated"/> in which a record begins; null: there is none. The stepping thread.
    /// </summary>
    internal Lsn? LastRecords { get; private set; }

    /// <summary>
    /// Reads on by one page, and looks for new segments where there is none. Returns false when there is nothing new now.
    /// </summary>
    /// <exception cref="LogDamage">The chain is damaged.</exception>
    public bool Step()
    {
        if (_file is not null && ReadNext()) return true;
        try
        {
            bool isNew = (_file is null && OpenHead() && ReadNext())
                || (_file is not null && HasMovedOn() && Chain.Refresh(_location) && OpenHead());
            _staleListings = 0;
            return isNew;
        }
        catch (LogDamage damage) when (damage.MayPass && ++_staleListings < StaleListingsMax)
        {
            return false;
        }
    }

    public void Dispose() => _file?.Dispose();

    private bool ReadNext()
    {
        Span<byte> bytes = stackalloc byte[PageHeader.Bytes];
        _ahead!.From(_head!.Header.OffsetOf(_next.At));
        if (LogSegment.Read(_file!, bytes, _head.Header.OffsetOf(_next.At), _head.Path) < bytes.Length)
        {
            _head.CheckLength(_file!); // the segment is full, or was cut
            return false;
        }
        if (PageHeader.Read(bytes, _seed, out PageHeader header) is not null) return false;
        if (header.Epoch != _head.Header.Epoch || header.Lsn != _next.At || header.PreviousHash != _next.HashBefore) return false;
        _unstated.Enqueue(header);
        _next = (header.Next, PageHeader.HashOf(bytes));
        if (header.DurableUpTo > Stated) State(header.DurableUpTo);
        return true;
    }

    /// <summary>Raises Stated to a position that a page states as durable.</summary>
    private void State(Lsn durable)
    {
        long time = 0; // time of the last page below; there is one, since the queue begins at or below Stated and durable is above
        while (_unstated.TryPeek(out PageHeader first) && first.Lsn < durable)
        {
            time = _unstated.Dequeue().TimeMicros;
            if (first.Flags is not (PageFlags.DurableMark or PageFlags.ContinuesSpanning)) LastRecords = first.Lsn;
        }
        bool isKnown = _unstated.TryPeek(out PageHeader next) && next.Lsn == durable; // the page that states it stands at or behind it
        if (!isKnown)
            throw new LogDamage(_head!.Path, _head.Header.OffsetOf(_next.At), _next.At, "durableUpTo at the beginning of a page", $"{durable}");
        Tail = new FollowedTail(_head!.Name, durable, next.PreviousHash, time);
        Volatile.Write(ref _stated, durable.Value);
    }

    /// <summary>
    /// Returns true when a listing is worth it: three cheap look-ups tell whether the segment has a successor, whether the epoch has
    /// ended, and whether the segment was truncated. After a long pause the successor may be truncated as well, so that its name alone
    /// says nothing.
    /// </summary>
    private bool HasMovedOn()
    {
        SegmentHeader header = _head!.Header;
        return _location.Files.Exists(_location.PathOf(new SegmentFileName(header.Number + 1, header.Epoch).ToString()))
            || !_location.Files.Exists(_location.PathOf(new EpochFileName(_location.Identity.Uuid, header.Epoch).ToString()))
            || !_location.Files.Exists(_head.Path);
    }

    /// <summary>Goes to the newest segment. What stands in earlier ones lies below its seal.</summary>
    private bool OpenHead()
    {
        if (Chain.Segments.IsEmpty && !Chain.Refresh(_location)) return false;
        LogSegment head = Chain.Segments[^1];
        IFile file;
        try
        {
            file = _location.Files.Open(head.Path, FileUse.ReadPages);
        }
        catch (FileNotFoundException) // it was truncated already, so there are newer ones
        {
            Chain.Refresh(_location);
            return false;
        }
        _file?.Dispose();
        _file = file;
        _ahead = new ReadAhead(file);
        _head = head;
        _unstated.Clear();
        LastRecords = null;
        _next = (head.FirstLsn, head.Header.PredecessorHash);
        Tail = new FollowedTail(head.Name, head.FirstLsn, head.Header.PredecessorHash, TimeMicros: 0);
        if (head.FirstLsn > Stated) Volatile.Write(ref _stated, head.FirstLsn.Value);
        return true;
    }
}

/// <summary>
/// Says what a follower knows of the log's last segment: a take-over need not read what lies below <paramref name="Stated"/>.
/// </summary>
/// <param name="Head">The segment. The knowledge is void when the chain has got another head since.</param>
/// <param name="Stated">Beginning of a page, stated as durable in this segment or by its seal.</param>
/// <param name="PreviousHash">Hash of the page before it.</param>
/// <param name="TimeMicros">Time of the last page below <paramref name="Stated"/> in this segment, which no later page may precede; 0 when
/// there is none. The header's time is no such bound: a tail that was logged again keeps its times, and is older than the segment.</param>
internal sealed record FollowedTail(SegmentFileName Head, Lsn Stated, ulong PreviousHash, long TimeMicros);
