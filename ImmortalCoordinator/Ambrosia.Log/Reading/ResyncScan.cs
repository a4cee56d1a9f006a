using System.Buffers;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Searches what stands at and behind a damaged or missing page, to the end of its file (log-format L8.1, L8.3). One thread, one use.
/// </summary>
internal sealed class ResyncScan(PageInspector inspector, IFile file)
{
    private const int ChunkBytes = 64 << 10;

    private readonly bool _isRecycled = inspector.Segment.Header.IsRecycled;
    private Lsn _skipTo, _end;
    private bool _isNothing; // a blank or stale page stands where the search begins

    /// <summary>The highest durableUpTo of the valid pages behind; 0 when none states anything.</summary>
    public Lsn Stated { get; private set; }

    /// <summary>The position of the page that states <see cref="Stated"/>.</summary>
    public Lsn StatedBy { get; private set; }

    /// <summary>
    /// The first valid page behind at which reading can go on, so one that does not continue a record; null when there is none.
    /// </summary>
    public Lsn? FirstValid { get; private set; }

    /// <summary>
    /// The position behind the last bytes that were, or may have been, written to this segment; the start when there are none. Zeros do not
    /// count, nor does what an earlier life left in a recycled file, where it can be told apart (L8.5).
    /// </summary>
    public Lsn ContentEnd { get; private set; }

    /// <summary>Searches at every multiple of 4,096 behind <paramref name="from"/>; the block there counts as content only.</summary>
    /// <param name="fault">What is wrong at <paramref name="from"/>.</param>
    /// <param name="end">The segment ends here by its successor's seal: nothing behind counts.</param>
    /// <param name="isFirstEnough">True ends the search at the first valid page, for a reader that goes on there and does not
    /// classify.</param>
    public void Search(Lsn from, PageFault fault, Lsn end, bool isFirstEnough, ref PageBuffer buffer)
    {
        _end = end;
        ContentEnd = from;
        _isNothing = fault.IsNothing;
        _skipTo = from + LogFormat.BlockBytes;
        byte[] chunk = ArrayPool<byte>.Shared.Rent(ChunkBytes);
        for (Lsn at = from; Walk(chunk.AsSpan(0, ChunkBytes), at, isFirstEnough, ref buffer);) at = NextData(at + ChunkBytes);
        ArrayPool<byte>.Shared.Return(chunk);
    }

    /// <summary>Searches one chunk of the file; returns true when there is more of the file.</summary>
    private bool Walk(Span<byte> chunk, Lsn at, bool isFirstEnough, ref PageBuffer buffer)
    {
        int count = file.Read(chunk, inspector.Segment.Header.OffsetOf(at));
        for (int i = 0; i < count; i += LogFormat.BlockBytes)
        {
            ReadOnlySpan<byte> block = chunk[i..Math.Min(i + LogFormat.BlockBytes, count)];
            if (at + i >= _end || (isFirstEnough && FirstValid is not null)) return false;
            if (block.ContainsAnyExcept((byte)0)) Look(at + i, block, ref buffer);
        }
        return count == chunk.Length;
    }

    /// <summary>Passes over what was never written, which is most of a segment's file: there are zeros.</summary>
    private Lsn NextData(Lsn at)
    {
        long offset = inspector.Segment.Header.OffsetOf(at), skipped = file.NextData(offset) - offset;
        return skipped <= 0 ? at : at + skipped / LogFormat.BlockBytes * LogFormat.BlockBytes;
    }

    private void Look(Lsn lsn, ReadOnlySpan<byte> block, ref PageBuffer buffer)
    {
        bool isWritten = inspector.TryReadHeader(block, out PageHeader header) && header.Lsn == lsn;
        // In a recycled file nobody knows of other blocks whether they were written in this life. The writer keeps zeros behind its last
        // page, so where these, or a page of the earlier life, stand at the start, only a page at its own position says more.
        if (isWritten || !_isRecycled || (lsn < _skipTo && !_isNothing)) ContentEnd = lsn + block.Length;
        if (isWritten && lsn >= _skipTo) Inspect(lsn, ref buffer);
    }

    private void Inspect(Lsn lsn, ref PageBuffer buffer)
    {
        PageFault? fault = inspector.Read(file, lsn, _end, null, ref buffer);
        if (fault is { IsIntact: false }) return; // a page that breaks a rule was written all the same, and what it states counts
        if (fault is null && buffer.Flags != PageFlags.ContinuesSpanning) FirstValid ??= lsn;
        _skipTo = ContentEnd = buffer.Next;
        if (buffer.DurableUpTo <= Stated) return;
        Stated = buffer.DurableUpTo;
        StatedBy = lsn;
    }
}
