using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

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

    private ArrayBufferWriter<byte> waiting = new(), sending = new();

    public bool HasAny => waiting.WrittenCount > 0;

    /// <summary>Bytes that wait.</summary>
    public int Waiting => waiting.WrittenCount;

    public void Write<T>(T frame) where T : IFramePayload<T> => Frames.Write(waiting, frame, seed, checkPayload);

    public void Write(FrameType type, ReadOnlySpan<byte> payload) => Frames.Write(waiting, type, payload, seed, checkPayload);

    public void WriteEmpty(FrameType type) => Write(type, []);

    /// <summary>All that wait; the bytes stay until the next call.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!HasAny) return false;
        (waiting, sending) = (sending, waiting);
        if (waiting.Capacity > KeptBytesMax) waiting = new ArrayBufferWriter<byte>();
        else waiting.ResetWrittenCount();
        bytes = sending.WrittenMemory;
        return true;
    }
}
