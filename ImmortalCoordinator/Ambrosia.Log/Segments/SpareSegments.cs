using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Log.Segments;

/// <summary>
/// Owns the files of this process and epoch that are to become segments: trimmed ones (log-format L3.5), or a fresh one where there are
/// none. The space pump and whoever trims add files, and the committer takes them; _changing guards the list, and each file guards itself.
/// Invariant: there are at most SparesMax and one.
/// </summary>
internal sealed class SpareSegments(LogLocation location, Epoch epoch, LogOptions options) : IDisposable
{
    private readonly RankedLock _changing = new(LockRank.SpareSegments);
    private readonly List<SegmentFile> _spares = [];
    private readonly Dictionary<SegmentFileName, long> _preparedTo = []; // of this epoch's segments that are full: written up to there
    private int _recycling; // files on their way into the list
    private ulong _made; // number of the last spare, which is part of its name

    /// <summary>True when a spare has space set aside for <paramref name="bytes"/> of pages.</summary>
    public bool HasRoomFor(long bytes, bool isMark)
    {
        using (_changing.Enter()) return _spares.Exists(s => s.HasRoomFor(bytes, isMark));
    }

    /// <summary>True when <see cref="Take"/> has a spare for so many bytes.</summary>
    public bool IsReadyFor(long bytes, bool isMark)
    {
        using (_changing.Enter()) return _spares.Exists(s => IsReady(s, bytes, isMark));
    }

    /// <summary>Takes the spare for a segment that begins with <paramref name="bytes"/> of pages, a recycled one if there is.</summary>
    public SegmentFile? Take(long bytes, bool isMark)
    {
        using (_changing.Enter())
        {
            SegmentFile? spare = _spares.Find(s => s.IsRecycled && IsReady(s, bytes, isMark))
                ?? _spares.Find(s => IsReady(s, bytes, isMark));
            if (spare is not null) _spares.Remove(spare);
            return spare;
        }
    }

    /// <summary>
    /// Makes sure that there is a spare with room for <paramref name="wanted"/> bytes, and that it is zeroed. Returns true when there is
    /// more to do.
    /// </summary>
    public bool Prepare(long wanted, long windowBytes)
    {
        SegmentFile? spare;
        ulong number;
        using (_changing.Enter())
        {
            spare = _spares.Find(s => s.HasRoomFor(wanted, isMark: false)) ?? _spares.Find(static s => !s.IsRecycled);
            spare?.ExtendFor(wanted); // here, since the committer takes none meanwhile; it costs no space
            number = spare is null ? ++_made : 0;
        }
        if (spare is not null) return spare.AllocateAhead(wanted) || spare.ZeroAhead(windowBytes, wanted);
        spare = SegmentFile.Create(location.Files, PathOf(number), options, wanted);
        location.Crash.Hit("segment.afterLength");
        using (_changing.Enter()) _spares.Add(spare);
        return true;
    }

    /// <summary>
    /// Zeroes a step of what a spare has set aside for <paramref name="wanted"/> bytes. Returns true when there is more to do.
    /// </summary>
    public bool ZeroAhead(long wanted)
    {
        SegmentFile? spare;
        using (_changing.Enter()) spare = _spares.Find(s => s.HasRoomFor(wanted, isMark: false));
        return spare is not null && spare.ZeroAhead(0, wanted);
    }

    /// <summary>
    /// Remembers how far a segment of this process was written, for the day when its file is recycled: its length does not say it.
    /// </summary>
    public void Remember(SegmentFile full)
    {
        using (_changing.Enter()) _preparedTo[new SegmentFileName(full.Header.Number, full.Header.Epoch)] = full.PreparedTo;
    }

    /// <summary>Forgets a segment whose name is removed.</summary>
    public void Forget(SegmentFileName segment)
    {
        using (_changing.Enter()) _preparedTo.Remove(segment);
    }

    /// <summary>
    /// Turns a segment of this epoch, which <paramref name="file"/> holds locked exclusively, into a spare, and takes the file over.
    /// Returns false when there are enough spares, no space for this one, or when this process did not write it.
    /// </summary>
    /// <exception cref="FileNotFoundException">The segment's name is gone.</exception>
    public bool TryRecycle(LogSegment segment, IFile file)
    {
        ulong number;
        long preparedTo;
        using (_changing.Enter())
        {
            if (_spares.Count + _recycling >= options.SparesMax || !_preparedTo.Remove(segment.Name, out preparedTo)) return false;
            _recycling++;
            number = ++_made;
        }
        SegmentFile? recycled = null;
        try
        {
            string spare = PathOf(number);
            if (!location.Files.TryRenameNew(segment.Path, spare)) throw new IOException($"{spare} is there already");
            location.Flush(); // a segment whose header is invalid must never come back by its old name
            location.Crash.Hit("segment.recycle");
            recycled = Recycle(spare, file, preparedTo);
        }
        finally
        {
            using (_changing.Enter())
            {
                _recycling--;
                if (recycled is not null) _spares.Add(recycled);
            }
        }
        return recycled is not null;
    }

    public void Dispose()
    {
        using (_changing.Enter())
        {
            foreach (SegmentFile spare in _spares) spare.Dispose();
            _spares.Clear();
        }
    }

    private static bool IsReady(SegmentFile spare, long bytes, bool isMark) =>
        spare.HasRoomFor(bytes, isMark) && spare.IsPreparedFor(bytes);

    private string PathOf(ulong number) => location.PathOf(new SpareFileName(epoch, number).ToString());

    private SegmentFile? Recycle(string spare, IFile file, long preparedTo)
    {
        try
        {
            SegmentFile recycled = SegmentFile.Recycle(location.Files, spare, file, options, preparedTo);
            location.Crash.Hit("segment.afterRecycle");
            file.Unlock();
            return recycled;
        }
        catch (IOException e) when (IFileSystem.IsNotNow(e)) // the disk lacks the rest of its space: the spare gives back what it has
        {
            location.Files.Delete(spare);
            return null;
        }
    }
}
