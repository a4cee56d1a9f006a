using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.State;

/// <summary>
/// Knows where in an image the reader of one object stands. A reader has a span, which ends at 2 GiB; this begins it anew further on. There
/// is one reader at a time, which is begun here. Thread: that of its <see cref="GraphReader"/>.
/// </summary>
internal sealed class GraphPlace(LargeBuffer image, int windowBytes)
{
    internal const int WindowBytesDefault = 1 << 30;

    private long _start;

    internal CborReader Begin(long at)
    {
        _start = at;
        return new CborReader(image.From(at));
    }

    internal long PositionOf(scoped in CborReader from) => _start + from.Position;

    internal void MoveOn(ref CborReader from)
    {
        if (from.Position >= windowBytes) from = Begin(PositionOf(from));
    }

    /// <summary>Passes one whole item of any length.</summary>
    internal void Skip(ref CborReader from)
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

    internal long ReadBytesLength(ref CborReader from)
    {
        ulong length = from.ReadBytesHeader();
        return length <= (ulong)(image.Length - PositionOf(from)) ? (long)length
            : throw new InvalidDataException($"The image holds a string of {length} bytes and ends before.");
    }

    internal ReadOnlySpan<byte> ReadContent(scoped ref CborReader from, int bytes)
    {
        long at = PositionOf(from);
        Pass(ref from, bytes);
        return image.From(at)[..bytes];
    }

    private void Pass(scoped ref CborReader from, long bytes) => from = Begin(PositionOf(from) + bytes);
}
