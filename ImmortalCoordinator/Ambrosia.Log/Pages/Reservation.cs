using Ambrosia.Protocol;

namespace Ambrosia.Log.Pages;

/// <summary>
/// Holds room for whole records in the open page. The bytes belong to the caller alone until it leaves the page, which must follow soon and
/// on every path. No commit passes a page with a reservation, so a caller never waits for anything while it holds one.
/// </summary>
public readonly struct Reservation
{
    private readonly int _offset;
    private readonly int _length;

    internal Reservation(LogPage page, int offset, int length)
    {
        Page = page;
        _offset = offset;
        _length = length;
    }

    /// <summary>The position of the first byte.</summary>
    public Lsn Lsn => Page.Lsn + _offset;

    /// <summary>The position behind the last byte: the records are durable when Durable is at or above it.</summary>
    public Lsn End => Page.Lsn + (_offset + _length);

    public Span<byte> Bytes => Page.Bytes.Slice(_offset, _length);

    internal LogPage Page { get; }
}
