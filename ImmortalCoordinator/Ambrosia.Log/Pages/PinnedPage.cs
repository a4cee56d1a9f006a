using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Pages;

/// <summary>
/// A durable page that is still in memory and stays there until <see cref="Unpin"/>, which the pinner calls exactly once. The pinner may
/// overwrite the 64 header bytes in front: they are on disk already.
/// </summary>
public readonly struct PinnedPage
{
    private readonly PagePool _pool;
    private readonly LogPage _page;

    internal PinnedPage(PagePool pool, LogPage page)
    {
        _pool = pool;
        _page = page;
    }

    /// <summary>The whole page: header and records without padding.</summary>
    public Memory<byte> Buffer => _page.Memory[..Length];

    /// <summary>The whole page: header and records without padding.</summary>
    public Span<byte> Bytes => _page.Bytes[..Length];

    /// <summary>The records of the page, all whole, or one part of a spanning record.</summary>
    public ReadOnlySpan<byte> Records => Bytes[PageHeader.Bytes..];

    /// <summary>The header as it was written, whatever has become of its bytes since.</summary>
    public PageHeader Header => _page.Header;

    /// <summary>The length of header and records in bytes.</summary>
    public int Length => _page.Header.Length;
    public Lsn Lsn => _page.Header.Lsn;

    /// <summary>The position of the first record.</summary>
    public Lsn RecordsLsn => _page.Header.Lsn + PageHeader.Bytes;

    /// <summary>The position of the page behind this one.</summary>
    public Lsn Next => _page.Header.Next;
    public long TimeMicros => _page.Header.TimeMicros;
    public PageFlags Flags => _page.Header.Flags;
    public uint Remaining => _page.Header.Remaining;
    public ulong PreviousHash => _page.Header.PreviousHash;

    public void Unpin() => _pool.Unpin(_page);
}
