using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Reading;

/// <summary>
/// Reads items of an image of any length from a place in it. A span ends at 2 GiB, so the reader below is begun anew further on from time
/// to time; whoever reads many items in a row calls <see cref="MoveOn"/> between them.
/// </summary>
internal ref struct ImageCursor
{
    /// <summary>The bytes after which the span is begun anew.</summary>
    private const int WindowBytes = 1 << 30;

    private readonly LargeBuffer _image;
    private long _start;

    internal ImageCursor(LargeBuffer image, long at)
    {
        _image = image;
        Begin(at);
    }

    /// <summary>The reader of the items; it is used in place, never copied.</summary>
    internal CborReader Items;

    internal readonly long Position => _start + Items.Position;

    internal void MoveOn()
    {
        if (Items.Position >= WindowBytes) Begin(Position);
    }

    /// <summary>Passes one whole item, however long it is.</summary>
    internal void Skip()
    {
        for (ulong left = 1; left > 0; left--)
        {
            MoveOn();
            switch (Items.PeekKind())
            {
                case CborKind.Array: left += (uint)Items.ReadArrayHeader(); break;
                case CborKind.Bytes: PassBytes(); break;
                default: Items.Skip(); break;
            }
        }
    }

    /// <summary>
    /// Begins a byte string of any length; its content is at <see cref="Position"/>, and <see cref="Pass"/> goes behind it.
    /// </summary>
    internal long ReadBytesLength()
    {
        ulong length = Items.ReadBytesHeader();
        return length <= (ulong)(_image.Length - Position) ? (long)length
            : throw new ImageException($"a string of {length} bytes in an image of {_image.Length}");
    }

    internal void Pass(long bytes) => Begin(Position + bytes);

    private void PassBytes() => Pass(ReadBytesLength());

    private void Begin(long at)
    {
        _start = at;
        Items = new CborReader(_image.From(at));
    }
}
