using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;

namespace Ambrosia.Log.Tests;

/// <summary>Reads a damaged copy of an image, again and again; one thread. The copy is restored by whoever damaged it.</summary>
internal sealed class ImageReader
{
    private readonly SegmentImage _image;
    private readonly ImageFiles _files;
    private readonly LogChain _chain;
    private PageBuffer _buffer = new(64 << 10);

    public ImageReader(SegmentImage image)
    {
        _image = image;
        Bytes = [.. image.Bytes];
        _files = new ImageFiles(image.Segment.Path, Bytes);
        _chain = new LogChain([image.Segment]);
    }

    public SegmentImage Image => _image;

    /// <summary>The content, to be damaged.</summary>
    public byte[] Bytes { get; }

    /// <summary>The file's length.</summary>
    public int Length
    {
        get => (int)_files.Length;
        set => _files.Length = value;
    }

    public ReadOnlySpan<byte> Now => Bytes.AsSpan(0, Length);

    public void Restore(int offset, int count) => _image.Bytes.AsSpan(offset, count).CopyTo(Bytes.AsSpan(offset));

    public void Restore()
    {
        Length = Bytes.Length;
        Restore(0, Length);
    }

    /// <summary>
    /// Reads the pages that are there: each must be what was written, in order. The number of pages and the verdict.
    /// </summary>
    /// <param name="from">Index of the page to begin with: those before are as they were, and a reader has forgotten them
    /// when it comes there.</param>
    public (int Pages, ReadVerdict Verdict) Read(int from = 0)
    {
        var options = new ScanOptions { From = _image.Pages[from].Lsn, PreviousHash = _image.Pages[from].PreviousHash };
        using LogScan scan = LogScan.Open(_files, SegmentImage.Dir, _image.Identity, _chain, options, _buffer);
        int pages = from;
        for (; scan.Next(); pages++) CheckPage(pages, scan.Page);
        if (scan.Page.Capacity > _buffer.Capacity) _buffer = scan.Page;
        return (pages, scan.Verdict!);
    }

    /// <summary>What a start says of the segment's header.</summary>
    public void Load() => LogChain.Load(_files, SegmentImage.Dir, _image.Identity);

    /// <summary>The answer of a take-over to the same bytes.</summary>
    public ReadVerdict TakeOver()
    {
        try
        {
            return new TailScan(new LogLocation(_files, SegmentImage.Dir, _image.Identity), _image.Segment).Read(ref _buffer);
        }
        catch (LogDamage damage)
        {
            return new ReadVerdict.Halt(damage.Lsn ?? default, damage, default);
        }
    }

    private void CheckPage(int i, PageBuffer page)
    {
        bool isRight = i < _image.Pages.Count && page.Lsn == _image.Pages[i].Lsn
            && page.Bytes.SequenceEqual(_image.Bytes.AsSpan(_image.Offset(page.Lsn), _image.Pages[i].Length));
        if (!isRight) throw new AcceptedLie($"page {i} at {page.Lsn} of {page.Length} bytes was never written so");
    }
}

/// <summary>A reader gave as history what is none.</summary>
internal sealed class AcceptedLie(string message) : Exception(message);
