using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Frames of one session on their way out: those that wait, and those that are being sent. A large answer's memory is given up with it.
/// Whoever owns it guards it with its own lock and takes again only when what was taken is sent.
/// </summary>
internal sealed class ClientFrames(uint seed)
{
    private const int KeptBytesMax = 256 << 10;

    private ArrayBufferWriter<byte> waiting = new(), sending = new();

    /// <summary>Bytes that wait.</summary>
    public int Waiting => waiting.WrittenCount;

    public void Write<T>(T frame) where T : IFramePayload<T> => Frames.Write(waiting, frame, seed, checkPayload: true);

    public void Write(FrameType type, ReadOnlySpan<byte> payload) => Frames.Write(waiting, type, payload, seed, checkPayload: true);

    /// <summary>All that wait; the bytes stay until the next call.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (Waiting == 0) return false;
        (waiting, sending) = (sending, waiting);
        if (waiting.Capacity > KeptBytesMax) waiting = new ArrayBufferWriter<byte>();
        else waiting.ResetWrittenCount();
        bytes = sending.WrittenMemory;
        return true;
    }
}
