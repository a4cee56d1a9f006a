using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Images;

/// <summary>
/// Knows where in an image the reader of its items stands. A reader has a span, which ends at 2 GiB, and an image and its larger items do
/// not: the window begins the reader anew further on, and whoever reads many items in a row calls <see cref="MoveOn"/> between them. It
/// goes with one reader at a time, which is begun here; a copy of it goes with a copy of the reader. One thread.
/// </summary>
public struct ImageWindow
{
    /// <summary>The bytes after which a reader is begun anew, where nobody asks for others.</summary>
    public const int BytesDefault = 1 << 20;

    private readonly LargeBuffer _image;
    private readonly int _bytes;
    private long _start;

    /// <param name="bytes">The bytes after which a reader is begun anew.</param>
    public ImageWindow(LargeBuffer image, int bytes = BytesDefault)
    {
        _image = image;
        _bytes = bytes;
    }

    public CborReader Begin(long at)
    {
        _start = at;
        return new CborReader(_image.From(at));
    }

    public readonly long PositionOf(scoped in CborReader from) => _start + from.Position;

    /// <summary>Begins the reader anew where it stands if it has come far; says whether it has.</summary>
    public bool MoveOn(ref CborReader from)
    {
        if (from.Position < _bytes) return false;
        from = Begin(PositionOf(from));
        return true;
    }

    /// <summary>Passes one whole item of any length.</summary>
    public void Skip(ref CborReader from)
    {
        for (ulong left = 1; left > 0; left--)
        {
            MoveOn(ref from);
            switch (from.PeekKind())
            {
                case CborKind.Array: left += (uint)from.ReadArrayHeader(); break;
                case CborKind.Bytes: Pass(ref from, ReadBytesLength(ref from)); break;
                default: from.Skip(); break;
            }
        }
    }

    /// <summary>Reads the head of a byte string of any length, all of which is there; its content follows.</summary>
    /// <exception cref="CborException">The image ends before it.</exception>
    public readonly long ReadBytesLength(ref CborReader from)
    {
        ulong length = from.ReadBytesHeader();
        return length <= (ulong)(_image.Length - PositionOf(from)) ? (long)length
            : throw new CborException(CborError.Truncated, from.Position, $"string of {length} bytes in an image of {_image.Length}");
    }

    /// <summary>Reads the next stretch of the content of a byte string.</summary>
    public ReadOnlySpan<byte> ReadContent(scoped ref CborReader from, int bytes)
    {
        long at = PositionOf(from);
        Pass(ref from, bytes);
        return _image.From(at)[..bytes];
    }

    /// <summary>Passes so many bytes of the content of a byte string.</summary>
    public void Pass(scoped ref CborReader from, long bytes) => from = Begin(PositionOf(from) + bytes);

    /// <summary>Refuses what stands behind the last item.</summary>
    /// <exception cref="CborException">Something does.</exception>
    public readonly void ExpectEnd(scoped in CborReader from)
    {
        if (PositionOf(from) is var at && at != _image.Length)
            throw new CborException(CborError.Malformed, from.Position, $"{_image.Length - at} bytes behind the end of the image");
    }
}
