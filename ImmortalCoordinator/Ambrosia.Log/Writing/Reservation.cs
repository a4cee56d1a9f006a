using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Room for whole records in the open page. Its bytes are the caller's alone until <see cref="LogWriter.Leave"/>, which must follow soon
/// and on every path: no commit passes a page with a reservation, so never hold one while waiting for anything.
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

    /// <summary>Of the first byte.</summary>
    public Lsn Lsn => Page.Lsn + _offset;

    /// <summary>Behind the last byte: the records are durable when Durable is at or above it.</summary>
    public Lsn End => Page.Lsn + (_offset + _length);

    public Span<byte> Bytes => Page.Bytes.Slice(_offset, _length);

    internal LogPage Page { get; }
}
