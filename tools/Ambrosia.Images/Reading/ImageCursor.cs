using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Reading;

/// <summary>
/// Reads items of an image of any length from a place in it; whoever reads many items in a row calls <see cref="MoveOn"/> between them.
/// </summary>
internal ref struct ImageCursor
{
    private ImageWindow _window;

    internal ImageCursor(LargeBuffer image, long at)
    {
        _window = new ImageWindow(image);
        Items = _window.Begin(at);
    }

    /// <summary>The reader of the items; it is used in place, never copied.</summary>
    internal CborReader Items;

    internal readonly long Position => _window.PositionOf(Items);

    internal void MoveOn() => _window.MoveOn(ref Items);

    /// <summary>Passes one whole item, however long it is.</summary>
    internal void Skip() => _window.Skip(ref Items);

    /// <summary>
    /// Begins a byte string of any length; its content is at <see cref="Position"/>, and <see cref="Pass"/> goes behind it.
    /// </summary>
    internal long ReadBytesLength() => _window.ReadBytesLength(ref Items);

    internal void Pass(long bytes) => _window.Pass(ref Items, bytes);

    /// <summary>Refuses what stands behind the last item.</summary>
    internal readonly void ExpectEnd() => _window.ExpectEnd(Items);
}
