using System.Buffers;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Framing;

/// <summary>
/// Frames of one connection on their way out, apart from the runs of outboxes: those that wait, and those that were taken and are being
/// sent. A large one's memory is given up with it. Whoever owns it guards it with its own lock and takes again only
/// when what was taken is sent.
/// </summary>
/// <param name="seed">The connection's seed (P2.2).</param>
/// <param name="checkPayload">True on a link (P2.5).</param>
internal sealed class FrameQueue(uint seed, bool checkPayload)
{
    private const int KeptBytesMax = 256 << 10;

    private ArrayBufferWriter<byte> _waiting = new(), _sending = new();

    public bool HasAny => _waiting.WrittenCount > 0;

    /// <summary>The number of bytes that wait.</summary>
    public int Waiting => _waiting.WrittenCount;

    public void Write<T>(T frame) where T : IFramePayload<T> => FrameWriter.Write(_waiting, frame, seed, checkPayload);

    public void Write(FrameType type, ReadOnlySpan<byte> payload) => FrameWriter.Write(_waiting, type, payload, seed, checkPayload);

    public void WriteEmpty(FrameType type) => Write(type, []);

    /// <summary>All that wait; the bytes stay until the next call.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!HasAny) return false;
        (_waiting, _sending) = (_sending, _waiting);
        if (_waiting.Capacity > KeptBytesMax) _waiting = new ArrayBufferWriter<byte>();
        else _waiting.ResetWrittenCount();
        bytes = _sending.WrittenMemory;
        return true;
    }
}
