using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The channel X→X: calls and impulses to oneself go from the outbox straight into the own log, without a socket. Closed until the
/// instance is primary. Owns the entry in hand. One lock; the thread that reads the app and the one that opens it.
/// </summary>
internal sealed class SelfChannel(Outbox outbox, InputLedger ledger, LogAppender log)
{
    private readonly Lock gate = new();
    private InboundRuns? runs;
    private OutboxEntry? next;
    private byte[] copy = [];

    /// <summary>The instance is primary: what the log does not hold yet goes there.</summary>
    public void Open()
    {
        lock (gate)
        {
            // the app may say again what an earlier limit allowed
            runs = new InboundRuns(log, ledger, ledger.Self, Frames.MessageBytesMaxLimit);
            outbox.Resume(ledger.AppendedOf(ledger.Self).Number, 0);
        }
    }

    /// <summary>Logs what waits; false: no room in the log now.</summary>
    public bool TryPush()
    {
        lock (gate)
        {
            if (runs is null) return true;
            while (next is not null || outbox.TryNext(out OutboxEntry entry) && (next = entry) is not null)
            {
                if (!runs.TryTake(RunOf(next.Value))) return false;
                outbox.Let(next.Value);
                next = null;
            }
            return true;
        }
    }

    private ReadOnlySpan<byte> RunOf(in OutboxEntry entry)
    {
        if (entry.Block is { } block) return block.Bytes.AsSpan((int)entry.At + FrameHeader.Bytes, entry.FrameBytes - FrameHeader.Bytes);
        if (copy.Length < entry.FrameBytes) copy = new byte[entry.FrameBytes];
        outbox.CopyFrame(entry, copy.AsSpan(0, entry.FrameBytes));
        return copy.AsSpan(FrameHeader.Bytes, entry.FrameBytes - FrameHeader.Bytes);
    }
}
