using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// From a claimed epoch to a log that this process writes (log-format L7.3, F2): reads the old tail after the claim, makes what it read
/// undeniable, and lets header and re-logged tail appear by one rename. Nothing of the tail counts before the fence check at the end.
/// One thread; every file operation is synchronous and passes the seam.
/// </summary>
public sealed class TakeOver
{
    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly InstanceIdentity _identity;
    private readonly Fence _fence;
    private readonly string _replica;
    private readonly LogOptions _options;
    private readonly TimeProvider _time;
    private readonly ICrashPoints _crash;
    private readonly LogFollower? _follower;
    private readonly PromotionSpare? _spare;
    private PageBuffer _buffer;

    private TakeOver(
        IFileSystem fs, string dir, InstanceIdentity identity, Fence fence, string replica, LogOptions options, TimeProvider time,
        ICrashPoints crash, LogFollower? follower, PromotionSpare? spare)
    {
        _follower = follower;
        _spare = spare;
        _fs = fs;
        _dir = dir;
        _identity = identity;
        _fence = fence;
        _replica = replica;
        _options = options.Check();
        _buffer = new PageBuffer(options.PageBytes);
        _time = time;
        _crash = crash;
    }

    /// <summary>Takes the log over; at the first start of an instance it makes its first segment.</summary>
    /// <param name="follower">Of a replica that has followed the log: its chain is used on, and only what it has not
    /// seen stated is read.</param>
    /// <param name="spare">What this process has set aside for its promotion.</param>
    /// <exception cref="LogDamage">Exit 65.</exception>
    /// <exception cref="FenceLostException">Somebody else claimed a later epoch meanwhile, whatever else was found
    /// then: exit 75.</exception>
    /// <exception cref="IOException">Exit 74.</exception>
    public static OpenLog Run(
        IFileSystem fs, string dir, InstanceIdentity identity, Fence fence, string replica, LogOptions options, TimeProvider time,
        ICrashPoints crash,
        LogFollower? follower = null, PromotionSpare? spare = null)
    {
        try
        {
            return new TakeOver(fs, dir, identity, fence, replica, options, time, crash, follower, spare).Run();
        }
        catch (Exception e) when (e is LogDamage or FileNotFoundException)
        {
            fence.Check(); // a later claimer's segment, and files of ours that it removed, are no damage
            throw;
        }
    }

    private OpenLog Run()
    {
        LogChain chain = LoadChain();
        IReadOnlyList<CheckpointFileName> checkpoints = Checkpoints.List(_fs, _dir);
        RemoveUnfinished();
        LogTail tail = chain.Segments.IsEmpty ? BeginLog(chain, checkpoints) : ContinueLog(chain);
        return Open(chain, checkpoints, tail);
    }

    /// <summary>Read after the claim, whatever a follower has seen before it (F2).</summary>
    private LogChain LoadChain()
    {
        if (_follower is null) return LogChain.Load(_fs, _dir, _identity);
        _follower.Chain.Refresh(_fs, _dir, _identity);
        return _follower.Chain;
    }

    private OpenLog Open(LogChain chain, IReadOnlyList<CheckpointFileName> checkpoints, LogTail tail)
    {
        RemoveLocks();
        var metrics = new LogMetrics();
        var store = new SegmentStore(_fs, _dir, _fence, _options, metrics, _crash, chain, tail.File);
        var writer = new LogWriter(_identity, _fence, _options, _time, _crash, store, metrics, tail);
        return new OpenLog(writer, chain, tail.Verdict, checkpoints);
    }

    private LogTail BeginLog(LogChain chain, IReadOnlyList<CheckpointFileName> checkpoints)
    {
        if (checkpoints.Count > 0)
            throw new LogDamage(Path.Combine(_dir, checkpoints[0].ToString()), 0, checkpoints[0].Lsn,
                "the log below this checkpoint", "no log");
        _crash.Hit("takeover.afterTailRead");
        var header = new SegmentHeader(
            _identity.Shard, _identity.Uuid, 1, _fence.Epoch, Lsn.Zero, 0, new Epoch(0), 0, _options.AppVersion,
            _options.DigestEvery, NowMicros(0));
        SegmentFile file = Build(chain, header, [], null, out ulong hash);
        return new LogTail(file, new ReadVerdict.Whole(Lsn.Zero, Lsn.Zero), hash, Lsn.Zero);
    }

    private LogTail ContinueLog(LogChain chain)
    {
        LogSegment head = chain.Segments[^1];
        if (head.Header.Epoch >= _fence.Epoch)
            throw new LogDamage(head.Path, 40, head.FirstLsn, $"an epoch below {_fence.Epoch}, which the fence says",
                $"{head.Header.Epoch}: the fence is older than the log");
        var scan = new TailScan(_fs, _dir, _identity, head, _follower?.Tail);
        ReadVerdict verdict = scan.Run(ref _buffer);
        _crash.Hit("takeover.afterTailRead");
        _fs.FlushDirectory(_dir); // what was read must not vanish once the new header names it

        var header = new SegmentHeader(
            _identity.Shard, _identity.Uuid, head.Header.Number + 1, _fence.Epoch, scan.DurableUpTo, head.Header.Number, head.Header.Epoch,
            scan.SealHash, _options.AppVersion, head.Header.DigestEvery, NowMicros(scan.LastTimeMicros));
        SegmentFile file = Build(chain, header, scan.Tail, head, out ulong hash);
        Lsn recordsEnd = scan.DurableUpTo;
        foreach (TailPage page in scan.Tail)
            if (page.Header.Flags != PageFlags.DurableMark) recordsEnd = page.Header.Next;
        return new LogTail(file, verdict, hash, recordsEnd);
    }

    /// <summary>Makes the segment as a temporary file, whole with its tail, and gives it its name.</summary>
    private SegmentFile Build(LogChain chain, SegmentHeader header, IReadOnlyList<TailPage> tail, LogSegment? from, out ulong lastHash)
    {
        string name = new SegmentFileName(header.Number, header.Epoch).ToString();
        string path = Path.Combine(_dir, name),
            temporary = Path.Combine(_dir, new TemporaryFileName(name, _replica, header.Epoch).ToString());
        _crash.Hit("segment.beforeCreate");
        long bytes = tail.Count == 0 ? 0 : tail[^1].Header.Next - tail[0].Header.Lsn;
        SegmentFile file = _spare?.TakeFor(temporary, bytes) ?? SegmentFile.Create(_fs, temporary, _options, bytes);
        file.WriteHeader(header);
        lastHash = from is null ? header.PredecessorHash : LogAgain(file, header, tail, from);
        file.ZeroFirst();
        file.Flush();
        _crash.Hit("segment.afterCreate");
        if (!file.TryPublish(path))
            throw new LogDamage(path, 0, header.FirstLsn, "no segment of an epoch that was claimed just now", "one");
        _crash.Hit("takeover.afterRename");
        _fs.FlushDirectory(_dir);
        _crash.Hit("segment.afterDirFsync");
        _fence.Check();
        chain.Append(new LogSegment(path, file.Header));
        return file;
    }

    /// <summary>Same Lsns, boundaries, times and records; epoch, hashes and CRCs are those of the new segment.</summary>
    private ulong LogAgain(SegmentFile to, SegmentHeader header, IReadOnlyList<TailPage> tail, LogSegment from)
    {
        ulong hash = header.PredecessorHash;
        uint seed = PageHeader.SeedOf(header.Uuid, header.Shard);
        var inspector = new PageInspector(from);
        using IFile file = _fs.Open(from.Path, FileUse.Read);
        foreach (TailPage page in tail)
        {
            Lsn lsn = page.Header.Lsn;
            if (inspector.Read(file, lsn, new Lsn(ulong.MaxValue), page.Header.PreviousHash, ref _buffer) is { } fault)
                throw new LogDamage(from.Path, from.Header.OffsetOf(lsn), lsn, $"{fault.Expected}, as it was read before", fault.Found);
            (page.Header with { Epoch = header.Epoch, PreviousHash = hash }).Write(_buffer.Room, seed);
            hash = PageHeader.HashOf(_buffer.Room);
            to.WriteAgain(_buffer.RoomMemory[..page.Header.Footprint], lsn);
            _crash.Hit("takeover.midRelog");
        }
        return hash;
    }

    /// <summary>
    /// Spares and unfinished files of lower epochs: their owners may still hold them open, and find every rename refused. They go first, so
    /// that on a full disk the new segment finds the space of the old spare.
    /// </summary>
    private void RemoveUnfinished()
    {
        bool isAny = false;
        foreach (string name in _fs.List(_dir))
        {
            if (!(SpareFileName.TryParse(name)?.Epoch < _fence.Epoch) && !IsUnfinished(name)) continue;
            _fs.Delete(Path.Combine(_dir, name));
            isAny = true;
        }
        if (isAny) _fs.FlushDirectory(_dir);
    }

    private bool IsUnfinished(string name) =>
        TemporaryFileName.TryParse(name) is { } file && file.Epoch < _fence.Epoch && Path.Combine(_dir, name) != _spare?.Path;

    /// <summary>Locks of former primaries.</summary>
    private void RemoveLocks()
    {
        foreach (string name in _fs.List(_dir))
            if (PrimaryFileName.TryParse(name)?.Epoch < _fence.Epoch) _fs.Delete(Path.Combine(_dir, name));
    }

    /// <summary>Time of pages and segments never decreases along the log, whatever the clock does.</summary>
    private long NowMicros(long atLeast) =>
        Math.Max(atLeast, (_time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond);
}
