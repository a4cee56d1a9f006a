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
    private bool _isFirstEnough;

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
    /// <param name="isFirstEnough">True ends the search at the first valid page, for a reader that goes on there and does not classify.
    /// It passes over what cannot be read.</param>
    /// <exception cref="LogDamage">Something behind cannot be read, and may state what stood at <paramref name="from"/>.</exception>
    public void Search(Lsn from, PageFault fault, Lsn end, bool isFirstEnough, ref PageBuffer buffer)
    {
        _end = end;
        ContentEnd = from;
        _isNothing = fault.IsNothing;
        _isFirstEnough = isFirstEnough;
        _skipTo = from + LogFormat.BlockBytes;
        byte[] chunk = ArrayPool<byte>.Shared.Rent(ChunkBytes);
        // Most of a segment's file was never written, and is passed over behind the last page. Behind damage, where a page that is passed
        // over would be lost, nothing rests on what the file system says of holes.
        long start = inspector.Segment.Header.OffsetOf(from);
        FileStretch data = _isNothing ? NextData(start) : new FileStretch(start, AlignedBlock.RoundUp(file.Length));
        while (data.Start < data.End && Walk(data, chunk.AsSpan(0, ChunkBytes), ref buffer)) data = NextData(data.End);
        ArrayPool<byte>.Shared.Return(chunk);
    }

    /// <summary>Returns the next stretch in which something may have been written, in whole blocks.</summary>
    private FileStretch NextData(long offset)
    {
        FileStretch found = file.NextData(offset);
        return new FileStretch(found.Start / LogFormat.BlockBytes * LogFormat.BlockBytes, AlignedBlock.RoundUp(found.End));
    }

    /// <summary>Searches a stretch of the file; returns false when nothing behind it matters.</summary>
    private bool Walk(FileStretch data, Span<byte> chunk, ref PageBuffer buffer)
    {
        var ahead = new ReadAhead(file);
        for (long offset = data.Start; offset < data.End; offset += chunk.Length)
        {
            ahead.From(offset, data.End);
            Span<byte> wanted = chunk[..(int)Math.Min(chunk.Length, data.End - offset)];
            int count = Read(wanted, offset);
            for (int i = 0; i < count; i += LogFormat.BlockBytes)
            {
                Lsn at = inspector.Segment.Header.LsnAt(offset + i);
                if (at >= _end || (_isFirstEnough && FirstValid is not null)) return false;
                ReadOnlySpan<byte> block = wanted[i..Math.Min(i + LogFormat.BlockBytes, count)];
                if (block.ContainsAnyExcept((byte)0)) Look(at, block, ref buffer);
            }
            if (count < wanted.Length) return false; // the file ends
        }
        return true;
    }

    /// <summary>
    /// Reads a part of the file; where the disk does not give all of it back, block by block. Blocks that cannot be read are left zeros for
    /// a reader that only looks for the next page.
    /// </summary>
    private int Read(Span<byte> to, long offset)
    {
        try
        {
            return to.Length > LogFormat.BlockBytes ? file.Read(to, offset) : file.ReadSteadily(to, offset);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e) && to.Length > LogFormat.BlockBytes)
        {
            int count = 0;
            while (count < to.Length && Read(to.Slice(count, LogFormat.BlockBytes), offset + count) is > 0 and var read) count += read;
            return count;
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            Lsn at = inspector.Segment.Header.LsnAt(offset);
            if (!_isFirstEnough && at < _end)
                throw inspector.Segment.DamageAt(at, PageFault.Unreadable(e), "what stands there may state a position before it as durable");
            to.Clear();
            return to.Length;
        }
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
