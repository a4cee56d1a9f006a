using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Checkpoints;

/// <summary>
/// Collects the image that a session begins with (protocol P5.7), and checks its length and hash. Thread: the scheduler's.
/// </summary>
internal sealed class ImageReceiver
{
    private readonly ArrayBufferWriter<byte> _bytes = new();

    internal void Begin(ImageBegin begin, Lsn expected)
    {
        if (begin.Position != expected)
            throw new ProtocolViolation("P5.7", $"an image at Lsn {begin.Position} where Welcome said {expected}");
    }

    internal void Add(ReadOnlySpan<byte> chunk)
    {
        if (_bytes.WrittenCount > Array.MaxLength - chunk.Length) throw new ProtocolViolation("P5.7", "an image of more than 2 GiB");
        _bytes.Write(chunk);
    }

    internal ReadOnlySpan<byte> End(ImageEnd end)
    {
        if (end.Length != (ulong)_bytes.WrittenCount)
            throw new ProtocolViolation("P5.7", $"an image of {_bytes.WrittenCount} bytes that says {end.Length}");
        if (end.Hash != ChannelHash.Append(0, _bytes.WrittenSpan)) throw new ProtocolViolation("P5.7", "an image with a wrong checksum");
        return _bytes.WrittenSpan;
    }
}
