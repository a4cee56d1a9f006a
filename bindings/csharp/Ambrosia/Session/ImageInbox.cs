using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Collects the image that a session begins with (protocol P5.7) and checks it.</summary>
internal sealed class ImageInbox
{
    private readonly ArrayBufferWriter<byte> bytes = new();

    internal void Begin(ImageBegin begin, Lsn expected)
    {
        if (begin.Position != expected)
            throw new ProtocolViolation("P5.7", $"an image at Lsn {begin.Position} where Welcome said {expected}");
    }

    internal void Add(ReadOnlySpan<byte> chunk)
    {
        if (bytes.WrittenCount > Array.MaxLength - chunk.Length) throw new ProtocolViolation("P5.7", "an image of more than 2 GiB");
        bytes.Write(chunk);
    }

    internal ReadOnlySpan<byte> End(ImageEnd end)
    {
        if (end.Length != (ulong)bytes.WrittenCount)
            throw new ProtocolViolation("P5.7", $"an image of {bytes.WrittenCount} bytes that says {end.Length}");
        if (end.Hash != ChannelHash.Append(0, bytes.WrittenSpan)) throw new ProtocolViolation("P5.7", "an image with a wrong checksum");
        return bytes.WrittenSpan;
    }
}
