using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Recovery;

/// <summary>
/// Leads from a claimed epoch to a log that this process writes (log-format L7.3, F2): it reads the old tail after the claim, makes what it
/// read undeniable, and lets header and re-logged tail appear by one rename. Nothing of the tail counts before the fence check at the end.
/// Every file operation is synchronous and passes through the files seam. One thread.
/// </summary>
public sealed class TakeOver
{
    private readonly LogLocation _location;
    private readonly Fence _fence;
    private readonly LogOptions _options;
    private readonly TimeProvider _time;
    private readonly LogFollower? _follower;
    private readonly FirstSegment _first;
    private PageBuffer _buffer;

    private TakeOver(
        LogLocation location, Fence fence, LogOptions options, TimeProvider time, LogFollower? follower, FirstSegment first)
    {
        _location = location;
        _fence = fence;
        _options = options;
        _time = time;
        _follower = follower;
        _first = first;
        _buffer = new PageBuffer(options.PageBytes);
    }

    /// <summary>Takes the log over; at the first start of an instance it makes the first segment.</summary>
    /// <param name="fence">The claim of this process.</param>
    /// <param name="replica">The name of the replica that takes over.</param>
    /// <param name="follower">The follower of a replica that has followed the log: its chain is used on, and only what it has not seen
    /// stated is read.</param>
    /// <param name="spare">The file that this process has set aside for its promotion.</param>
    /// <exception cref="LogDamage">The log is damaged: exit 65.</exception>
    /// <exception cref="FenceLostException">Another process claimed a later epoch meanwhile, whatever else was found then: exit
    /// 75.</exception>
    /// <exception cref="IOException">The disk failed: exit 74.</exception>
    public static PrimaryLog Execute(
        LogLocation location, Fence fence, string replica, LogOptions options, TimeProvider time, LogFollower? follower = null,
        PromotionSpare? spare = null)
    {
        try
        {
            var first = new FirstSegment(location, fence, replica, options.Check(), spare);
            return new TakeOver(location, fence, options, time, follower, first).Run();
        }
        catch (Exception e) when (e is LogDamage or FileNotFoundException)
        {
            fence.Check(); // a later claimer's segment, and files of ours that it removed, are no damage
            throw;
        }
    }

    private PrimaryLog Run()
    {
        ToldEnd? told = ToldEnd.Newest(_location);
        LogChain chain = LoadChain();
        LogStart.Check(_location, chain); // first, since what tells of a missing segment is removed next
        IReadOnlyList<CheckpointFileName> checkpoints = CheckpointDirectory.List(_location.Files, _location.Directory);
        RemoveUnfinished();
        OwnSegment own = chain.Segments.IsEmpty ? BeginLog(chain) : ContinueLog(chain, told);
        RemoveLocks();
        return Open(chain, checkpoints, own);
    }

    /// <summary>Reads the chain after the claim, whatever a follower has seen before it (F2).</summary>
    private LogChain LoadChain()
    {
        if (_follower is null) return LogChain.Load(_location);
        _follower.Chain.Refresh(_location);
        return _follower.Chain;
    }

    private OwnSegment BeginLog(LogChain chain)
    {
        _location.Crash.Hit("takeover.afterTailRead");
        var header = new SegmentHeader(
            _location.Identity.Shard, _location.Identity.Uuid, 1, _fence.Epoch, Lsn.Zero, 0, new Epoch(0), 0, AppVersion: 0,
            _options.DigestEvery, NowMicros(0));
        SegmentFile file = _first.Begin(chain, header, out ulong hash);
        return new OwnSegment(file, new ReadVerdict.CleanEnd(Lsn.Zero, Lsn.Zero), hash, Lsn.Zero, new AppVersionInForce(0, Lsn.Zero, 0));
    }

    private OwnSegment ContinueLog(LogChain chain, ToldEnd? told)
    {
        LogSegment head = chain.Segments[^1];
        if (head.Epoch >= _fence.Epoch) throw LogStart.OlderFence(head, new Epoch(_fence.Epoch.Value - 1));
        var scan = new TailScan(_location, head, _follower?.Tail);
        ReadVerdict verdict = scan.Read(ref _buffer);
        told?.Check(head, scan.PagesEnd);
        _location.Crash.Hit("takeover.afterTailRead");
        _location.Flush(); // what was read must not vanish once the new header names it

        var header = new SegmentHeader(
            _location.Identity.Shard, _location.Identity.Uuid, head.Header.Number + 1, _fence.Epoch, scan.DurableUpTo, head.Header.Number,
            head.Epoch, scan.SealHash, VersionAt(scan.DurableUpTo, chain), head.Header.DigestEvery, NowMicros(scan.LastTimeMicros));
        SegmentFile file = _first.Continue(chain, header, scan.Tail, head, ref _buffer, out ulong hash);
        Lsn recordsEnd = scan.DurableUpTo;
        foreach (TailPage page in scan.Tail)
            if (page.Header.Flags != PageFlags.DurableMark) recordsEnd = page.Header.Next;
        uint version = scan.Tail is [{ Header.Flags: PageFlags.StatesVersion } first, ..] ? first.Header.AppVersion : header.AppVersion;
        return new OwnSegment(file, verdict, hash, recordsEnd, new AppVersionInForce(header.AppVersion, header.FirstLsn, version));
    }

    /// <summary>
    /// Returns the version that the new header states. Only the log's first page brings its first one into force; a scan that began behind
    /// a checkpoint has not read it, and a header that states none would end every later start.
    /// </summary>
    private uint VersionAt(Lsn seal, LogChain chain)
    {
        uint version = chain.VersionAt(_location.Files, seal);
        LogSegment head = chain.Segments[^1];
        if (version > 0 || seal == head.FirstLsn || head.VersionBehindFirstPage(_location.Files) is not null) return version;
        throw head.DamageAt(
            head.FirstLsn, new PageFault("the page that states the app's first version", "another"), $"{seal} is stated to be durable");
    }

    private PrimaryLog Open(LogChain chain, IReadOnlyList<CheckpointFileName> checkpoints, OwnSegment own)
    {
        var store = new SegmentStore(_location, _fence, _options, chain, own.File, own.Version);
        var writer = new LogWriter(_options, _time, _location.Crash, store, new LogTail(own.Verdict.End, own.LastHash, own.RecordsEnd));
        return new PrimaryLog(writer, chain, own.Verdict, checkpoints);
    }

    /// <summary>
    /// Removes spares and unfinished files of lower epochs. Their owners may still hold them open, and find every rename refused. These
    /// files go first, so that on a full disk the new segment finds the space of the old spare.
    /// </summary>
    private void RemoveUnfinished()
    {
        bool isAny = false;
        foreach (string name in _location.List())
        {
            if (!(SpareFileName.TryParse(name)?.Epoch < _fence.Epoch) && !IsUnfinished(name)) continue;
            _location.Files.Delete(_location.PathOf(name));
            isAny = true;
        }
        if (isAny) _location.Flush();
    }

    private bool IsUnfinished(string name) =>
        TemporaryFileName.TryParse(name) is { } file && file.Epoch < _fence.Epoch && !_first.IsMadeOf(_location.PathOf(name));

    /// <summary>Removes the locks of former primaries.</summary>
    private void RemoveLocks()
    {
        foreach (string name in _location.List())
            if (PrimaryFileName.TryParse(name)?.Epoch < _fence.Epoch) _location.Files.Delete(_location.PathOf(name));
    }

    /// <summary>Returns the time, which never decreases along pages and segments of the log, whatever the clock does.</summary>
    private long NowMicros(long atLeast) =>
        Math.Max(atLeast, (_time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond);

    /// <summary>Describes the segment that the new primary has made and goes on to write.</summary>
    /// <param name="File">It is open for writing.</param>
    /// <param name="LastHash">Hash of the last page, in the new segment.</param>
    /// <param name="RecordsEnd">End of the last page that is no durable mark.</param>
    private sealed record OwnSegment(SegmentFile File, ReadVerdict Verdict, ulong LastHash, Lsn RecordsEnd, AppVersionInForce Version);
}
