using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Commit;

/// <summary>
/// Takes the pages that one flush makes durable through their steps. The committer calls <see cref="Rotate"/> if
/// <see cref="NeedsRotation"/>, <see cref="Write()"/> once or <see cref="Write(int)"/> for each page in order, <see cref="Flush"/>,
/// <see cref="CheckFence"/>, and then <see cref="LogWriter.Complete"/>. Each is one step, and any other order throws. A step that failed
/// leaves the disk's state unknown: the process ends, and nothing is tried again.
/// </summary>
public sealed class CommitGroup
{
    private enum Step { None, Begun, Writing, Flushed, Checked, Failed }

    private readonly SegmentStore _store;
    private readonly LogMetrics _metrics;
    private readonly ICrashPoints _crash;
    private Step _step;
    private int _written;
    private ulong _hashBefore;
    private long _timeMicros;
    private ReadOnlyMemory<byte>[] _parts = new ReadOnlyMemory<byte>[16];

    internal CommitGroup(SegmentStore store, LogMetrics metrics, ICrashPoints crash)
    {
        _store = store;
        _metrics = metrics;
        _crash = crash;
    }

    public int PageCount => Pages.Count;

    /// <summary>The position of the first page.</summary>
    public Lsn Start { get; private set; }

    /// <summary>The position behind the last page.</summary>
    public Lsn End { get; private set; }

    /// <summary>True when the segment has no room for the group.</summary>
    public bool NeedsRotation { get; private set; }

    internal List<LogPage> Pages { get; } = [];

    /// <summary>True when the group is one durable mark, for which there is always space.</summary>
    internal bool IsMark => PageCount == 1 && Pages[0].Flags == PageFlags.DurableMark;

    /// <summary>The number of bytes that the pages take in their file.</summary>
    internal long Bytes
    {
        get
        {
            long bytes = 0;
            foreach (LogPage page in Pages) bytes += AlignedBlock.RoundUp(PageState.EndOf(page.State.Word));
            return bytes;
        }
    }

    internal bool IsChecked => _step == Step.Checked;

    /// <summary>Begins the next segment; every page of the old one is Durable at this point.</summary>
    public void Rotate()
    {
        if (!NeedsRotation) throw new InvalidOperationException("the segment has room for the group");
        Enter(Step.Begun);
        _store.Rotate(Start, _hashBefore, _timeMicros, End - Start, IsMark);
        NeedsRotation = false;
        _metrics.CountRotation();
        _step = Step.Begun;
    }

    /// <summary>Writes all pages, with one call unless something is to happen between them.</summary>
    public void Write()
    {
        if (PageCount > 1 && _crash.IsArmed("log.betweenPages"))
        {
            for (int page = 0; page < PageCount; page++) Write(page);
            return;
        }
        if (NeedsRotation || _written != 0) throw new InvalidOperationException("the pages are written out of order");
        Enter(Step.Begun);
        WritePages(0, PageCount);
    }

    /// <summary>Writes one page, by its index in the group.</summary>
    public void Write(int page)
    {
        if (NeedsRotation || page != _written || page >= PageCount)
            throw new InvalidOperationException($"page {page} of {PageCount} is written out of order");
        Enter(page == 0 ? Step.Begun : Step.Writing);
        if (page > 0) _crash.Hit("log.betweenPages");
        WritePages(page, 1);
    }

    private void WritePages(int first, int count)
    {
        if (_parts.Length < count) _parts = new ReadOnlyMemory<byte>[Math.Max(count, 2 * _parts.Length)];
        long bytes = 0;
        for (int i = 0; i < count; i++)
        {
            LogPage page = Pages[first + i];
            _parts[i] = page.Memory[..page.Header.Footprint];
            bytes += page.Header.Footprint;
        }
        _store.Write(_parts.AsSpan(0, count), Pages[first].Lsn);
        _parts.AsSpan(0, count).Clear(); // a spanning record's pages are released when they are durable
        _metrics.CountPages(count, bytes);
        _written = first + count;
        _step = Step.Writing;
    }

    /// <summary>Flushes all pages with one fdatasync.</summary>
    public void Flush()
    {
        if (_written != PageCount) throw new InvalidOperationException($"{PageCount - _written} pages of the group are not written");
        Enter(Step.Writing);
        if (Pages[0].Flags == PageFlags.StatesVersion && Start > Lsn.Zero) _crash.Hit("upgrade.midRecord");
        _store.Flush();
        _crash.Hit("log.afterFlush");
        _step = Step.Flushed;
    }

    /// <summary>Checks the fence (F1): only what was flushed before this returns counts.</summary>
    /// <exception cref="FenceLostException">Another process has claimed a later epoch: exit 75.</exception>
    public void CheckFence()
    {
        Enter(Step.Flushed);
        _store.CheckFence();
        _crash.Hit("log.afterFenceCheck");
        _step = Step.Checked;
    }

    /// <param name="place">Where the store has room for the group.</param>
    internal void Begin(ulong hashBefore, long timeMicros, GroupPlace place)
    {
        Start = Pages[0].Lsn;
        End = Pages[^1].Header.Next;
        _hashBefore = hashBefore;
        _timeMicros = timeMicros;
        _written = 0;
        NeedsRotation = place == GroupPlace.Next;
        _step = Step.Begun;
    }

    internal void Reset()
    {
        Pages.Clear();
        _step = Step.None;
    }

    /// <summary>Enters a step, and leaves the group failed until the step is done.</summary>
    private void Enter(Step due)
    {
        if (_step != due) throw new InvalidOperationException($"the group is at {_step} where {due} is due");
        _step = Step.Failed;
    }
}
