using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Control frames of one connection: those that wait, and those that were taken and are being sent. Few and small; whoever owns it
/// guards it with its own lock and takes again only when what was taken is sent.
/// </summary>
/// <param name="seed">The connection's seed (P2.2).</param>
/// <param name="checkPayload">True on a link (P2.5).</param>
internal sealed class ControlFrames(uint seed, bool checkPayload)
{
    private ArrayBufferWriter<byte> waiting = new(), sending = new();

    public bool HasAny => waiting.WrittenCount > 0;

    public void Write<T>(T frame) where T : IFramePayload<T> => Frames.Write(waiting, frame, seed, checkPayload);

    public void WriteEmpty(FrameType type) => Frames.Write(waiting, type, [], seed, checkPayload);

    /// <summary>All that wait; the bytes stay until the next call.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!HasAny) return false;
        (waiting, sending) = (sending, waiting);
        waiting.ResetWrittenCount();
        bytes = sending.WrittenMemory;
        return true;
    }
}
