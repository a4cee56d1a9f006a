using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// What stands at and behind a damaged or missing page, to the end of its file (log-format L8.1, L8.3). One thread, one use.
/// </summary>
internal sealed class BehindSearch(PageInspector inspector, IFile file)
{
    private const int StretchBytes = 64 << 10;

    private readonly bool _isRecycled = inspector.Segment.Header.IsRecycled;
    private Lsn _skipTo, _end;
    private bool _isNothing; // x is blank or a stale page

    /// <summary>Highest durableUpTo of the valid pages behind; 0: none states anything.</summary>
    public Lsn Stated { get; private set; }

    /// <summary>Lsn of the page that states it.</summary>
    public Lsn StatedBy { get; private set; }

    /// <summary>First valid page behind with which reading can go on: it does not continue a record; null: there is none.</summary>
    public Lsn? FirstValid { get; private set; }

    /// <summary>
    /// Behind the last bytes that were, or may have been, written to this segment; the start where there are none. Zeros are none, nor is
    /// what an earlier life left in a recycled file, where it can be told apart (L8.5).
    /// </summary>
    public Lsn ContentEnd { get; private set; }

    /// <summary>Searches at every multiple of 4,096 behind <paramref name="from"/>; the block there counts as content only.</summary>
    /// <param name="fault">What is wrong at <paramref name="from"/>.</param>
    /// <param name="end">Where the segment ends by its successor's seal: nothing behind counts.</param>
    /// <param name="isFirstEnough">Ends at the first valid page: the reader goes on there, it does not judge.</param>
    public void Run(Lsn from, PageFault fault, Lsn end, bool isFirstEnough, ref PageBuffer buffer)
    {
        _end = end;
        ContentEnd = from;
        _isNothing = fault.IsNothing;
        _skipTo = from + LogFormat.BlockBytes;
        byte[] stretch = ArrayPool<byte>.Shared.Rent(StretchBytes);
        for (Lsn at = from; Walk(stretch.AsSpan(0, StretchBytes), at, isFirstEnough, ref buffer);) at += StretchBytes;
        ArrayPool<byte>.Shared.Return(stretch);
    }

    /// <summary>True: there is more of the file.</summary>
    private bool Walk(Span<byte> stretch, Lsn at, bool isFirstEnough, ref PageBuffer buffer)
    {
        int count = file.Read(stretch, inspector.Segment.Header.OffsetOf(at));
        for (int i = 0; i < count; i += LogFormat.BlockBytes)
        {
            ReadOnlySpan<byte> block = stretch[i..Math.Min(i + LogFormat.BlockBytes, count)];
            if (at + i >= _end || (isFirstEnough && FirstValid is not null)) return false;
            if (block.ContainsAnyExcept((byte)0)) Look(at + i, block, ref buffer);
        }
        return count == stretch.Length;
    }

    private void Look(Lsn lsn, ReadOnlySpan<byte> block, ref PageBuffer buffer)
    {
        bool isWritten = inspector.TryReadHeader(block, out PageHeader header) && header.Lsn == lsn;
        // In a recycled file nobody knows of other blocks whether they were written in this life; the writer keeps zeros behind its last
        // page, so where these, or a page of the earlier life, stand at x, only a page at its own position says more.
        if (isWritten || !_isRecycled || (lsn < _skipTo && !_isNothing)) ContentEnd = lsn + block.Length;
        if (isWritten && lsn >= _skipTo) Inspect(lsn, ref buffer);
    }

    private void Inspect(Lsn lsn, ref PageBuffer buffer)
    {
        PageFault? fault = inspector.Read(file, lsn, _end, null, ref buffer);
        if (fault is { IsIntact: false }) return; // one that breaks a rule was written all the same, with what it states
        if (fault is null && buffer.Flags != PageFlags.ContinuesSpanning) FirstValid ??= lsn;
        _skipTo = ContentEnd = buffer.Next;
        if (buffer.DurableUpTo <= Stated) return;
        Stated = buffer.DurableUpTo;
        StatedBy = lsn;
    }
}
