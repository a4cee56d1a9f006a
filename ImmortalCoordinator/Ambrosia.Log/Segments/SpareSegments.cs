using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Files of this process and epoch that are to become segments: trimmed ones (log-format L3.5), or a fresh one where there are none.
/// The space pump and whoever trims add, the committer takes; the list is guarded by _changing, each file by itself.
/// Invariant: at most SparesMax and one.
/// </summary>
internal sealed class SpareSegments(IFileSystem fs, string dir, Fence fence, LogOptions options, ICrashPoints crash) : IDisposable
{
    private readonly Lock _changing = new();
    private readonly List<SegmentFile> _spares = [];
    private int _recycling; // on their way into the list
    private ulong _made;

    /// <summary>True when one has space set aside for <paramref name="bytes"/> of pages.</summary>
    public bool HasRoomFor(long bytes, bool isMark)
    {
        lock (_changing) return _spares.Exists(s => s.HasRoomFor(bytes, isMark));
    }

    /// <summary>True when <see cref="Take"/> has one for them.</summary>
    public bool IsReadyFor(long bytes, bool isMark)
    {
        lock (_changing) return _spares.Exists(s => IsReady(s, bytes, isMark));
    }

    /// <summary>The spare for a segment that begins with <paramref name="bytes"/> of pages; a recycled one if there is.</summary>
    public SegmentFile? Take(long bytes, bool isMark)
    {
        lock (_changing)
        {
            SegmentFile? spare = _spares.Find(s => s.IsRecycled && IsReady(s, bytes, isMark))
                ?? _spares.Find(s => IsReady(s, bytes, isMark));
            if (spare is not null) _spares.Remove(spare);
            return spare;
        }
    }

    /// <summary>
    /// Sees that there is one with room for <paramref name="wanted"/> bytes, and that it is zeroed. True: there is more to do.
    /// </summary>
    public bool Prepare(long wanted, long windowBytes)
    {
        SegmentFile? spare;
        ulong number;
        lock (_changing)
        {
            spare = _spares.Find(s => s.HasRoomFor(wanted, isMark: false)) ?? _spares.Find(static s => !s.IsRecycled);
            number = spare is null ? ++_made : 0;
        }
        if (spare is not null) return spare.AllocateAhead(wanted) || spare.ZeroAhead(windowBytes, wanted);
        spare = SegmentFile.Create(fs, PathOf(number), options, wanted);
        lock (_changing) _spares.Add(spare);
        return true;
    }

    /// <summary>Zeroes a step of what one has set aside for <paramref name="wanted"/> bytes. True: there is more to do.</summary>
    public bool ZeroAhead(long wanted)
    {
        SegmentFile? spare;
        lock (_changing) spare = _spares.Find(s => s.HasRoomFor(wanted, isMark: false));
        return spare is not null && spare.ZeroAhead(0, wanted);
    }

    /// <summary>
    /// Turns a segment of this epoch, exclusively locked by <paramref name="file"/>, into a spare; takes the file over. False: there are
    /// enough, or no space for it.
    /// </summary>
    /// <exception cref="FileNotFoundException">Its name is gone.</exception>
    public bool TryRecycle(string path, IFile file)
    {
        ulong number;
        lock (_changing)
        {
            if (_spares.Count + _recycling >= options.SparesMax) return false;
            _recycling++;
            number = ++_made;
        }
        SegmentFile? recycled = null;
        try
        {
            string spare = PathOf(number);
            if (!fs.TryRenameNew(path, spare)) throw new IOException($"{spare} is there already");
            fs.FlushDirectory(dir); // a segment whose header is invalid must never come back by its old name
            crash.Hit("segment.recycle");
            recycled = Recycle(spare, file);
        }
        finally
        {
            lock (_changing)
            {
                _recycling--;
                if (recycled is not null) _spares.Add(recycled);
            }
        }
        return recycled is not null;
    }

    public void Dispose()
    {
        lock (_changing)
        {
            foreach (SegmentFile spare in _spares) spare.Dispose();
            _spares.Clear();
        }
    }

    private static bool IsReady(SegmentFile spare, long bytes, bool isMark) =>
        spare.HasRoomFor(bytes, isMark) && spare.IsPreparedFor(bytes);

    private string PathOf(ulong number) => Path.Combine(dir, new SpareFileName(fence.Epoch, number).ToString());

    private SegmentFile? Recycle(string spare, IFile file)
    {
        try
        {
            SegmentFile recycled = SegmentFile.Recycle(fs, spare, file, options);
            file.Unlock();
            return recycled;
        }
        catch (IOException e) when (NoSpace.Is(e)) // the rest of its space is not to be had: then it gives back what it has
        {
            fs.Delete(spare);
            return null;
        }
    }
}
