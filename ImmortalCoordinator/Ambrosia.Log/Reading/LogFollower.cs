using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// How far a log that another process writes may be read: walks the page headers at its tail and follows the chain from segment to segment.
/// Headers alone say it, since each is bound to its place and chained to the one before, and states what was durable when it was made;
/// who acts on the pages below <see cref="Stated"/> reads them whole, with every check.
/// One thread steps; any thread reads <see cref="Stated"/>. Invariant: Stated never decreases, and every page below it is there (F3).
/// </summary>
public sealed class LogFollower : IDisposable
{
    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly InstanceIdentity _identity;
    private readonly uint _seed;

    /// <summary>Headers from <see cref="Stated"/> on in the head segment, oldest first: the writer's unstated groups, so few.</summary>
    private readonly Queue<PageHeader> _unstated = new();
    private LogSegment? _head;
    private IFile? _file;
    private FollowedTail? _tail;
    private Lsn _next;
    private ulong _nextHash; // of the page before _next
    private ulong _stated;

    public LogFollower(IFileSystem fs, string dir, InstanceIdentity identity)
    {
        _fs = fs;
        _dir = dir;
        _identity = identity;
        _seed = PageHeader.SeedOf(identity.Uuid, identity.Shard);
        Chain = LogChain.Load(fs, dir, identity);
    }

    /// <summary>The log's segments; the follower refreshes it.</summary>
    public LogChain Chain { get; }

    /// <summary>Highest position that a page or seal states as durable: what a replica may execute (F3).</summary>
    public Lsn Stated => new(Volatile.Read(ref _stated));

    /// <summary>Epoch of the head segment: that of the last take-over. 0 before the first start.</summary>
    public Epoch Epoch => _head?.Header.Epoch ?? new Epoch(0);

    /// <summary>Version of the app that the head segment states; 0 before the first start.</summary>
    public uint AppVersion => _head?.Header.AppVersion ?? 0;

    /// <summary>Distance of digest positions; null before the log has begun.</summary>
    public ulong? DigestEvery => Chain.Segments is [.., var head] ? head.Header.DigestEvery : null;

    /// <summary>
    /// Where a take-over may begin to read the tail; null: at the head segment's beginning. For the stepping thread, or when it has ended.
    /// </summary>
    public FollowedTail? Tail => _tail;

    /// <summary>Reads on by one page; looks for new segments where there is none. False: nothing new now.</summary>
    /// <exception cref="LogDamage">The chain is damaged.</exception>
    public bool Step()
    {
        if (_file is null && !OpenHead()) return false;
        if (ReadNext()) return true;
        if (!HasMovedOn() || !Chain.Refresh(_fs, _dir, _identity)) return false;
        return OpenHead();
    }

    public void Dispose() => _file?.Dispose();

    private bool ReadNext()
    {
        Span<byte> bytes = stackalloc byte[PageHeader.Bytes];
        if (_file!.Read(bytes, _head!.Header.OffsetOf(_next)) < bytes.Length) return false;
        if (PageHeader.Read(bytes, _seed, out PageHeader header) is not null) return false;
        if (header.Epoch != _head.Header.Epoch || header.Lsn != _next || header.PreviousHash != _nextHash) return false;
        _unstated.Enqueue(header);
        _next = header.Next;
        _nextHash = PageHeader.HashOf(bytes);
        if (header.DurableUpTo > Stated) State(header.DurableUpTo);
        return true;
    }

    private void State(Lsn durable)
    {
        long time = 0; // of the last page below; there is one, since the queue begins at or below Stated and durable is above
        while (_unstated.TryPeek(out PageHeader first) && first.Lsn < durable) time = _unstated.Dequeue().TimeMicros;
        bool isKnown = _unstated.TryPeek(out PageHeader next) && next.Lsn == durable; // the page that states it stands at or behind it
        if (!isKnown)
            throw new LogDamage(_head!.Path, _head.Header.OffsetOf(_next), _next, "durableUpTo at the beginning of a page", $"{durable}");
        _tail = new FollowedTail(_head!.Name, durable, next.PreviousHash, time);
        Volatile.Write(ref _stated, durable.Value);
    }

    /// <summary>Cheap questions that tell whether a listing is worth it: has the segment a successor, or the epoch ended?</summary>
    private bool HasMovedOn()
    {
        SegmentHeader header = _head!.Header;
        return _fs.Exists(Path.Combine(_dir, new SegmentFileName(header.Number + 1, header.Epoch).ToString()))
            || !_fs.Exists(Path.Combine(_dir, new EpochFileName(_identity.Uuid, header.Epoch).ToString()));
    }

    /// <summary>Goes to the newest segment; what stands in earlier ones lies below its seal.</summary>
    private bool OpenHead()
    {
        if (Chain.Segments.IsEmpty && !Chain.Refresh(_fs, _dir, _identity)) return false;
        LogSegment head = Chain.Segments[^1];
        IFile file;
        try
        {
            file = _fs.Open(head.Path, FileUse.Read);
        }
        catch (FileNotFoundException) // truncated already: there are newer ones
        {
            Chain.Refresh(_fs, _dir, _identity);
            return false;
        }
        _file?.Dispose();
        _file = file;
        _head = head;
        _unstated.Clear();
        _next = head.FirstLsn;
        _nextHash = head.Header.PredecessorHash;
        _tail = new FollowedTail(head.Name, head.FirstLsn, head.Header.PredecessorHash, TimeMicros: 0);
        if (head.FirstLsn > Stated) Volatile.Write(ref _stated, head.FirstLsn.Value);
        return true;
    }
}
