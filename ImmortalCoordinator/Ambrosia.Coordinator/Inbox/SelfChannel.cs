using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Inbox;

/// <summary>
/// The channel X→X: calls and impulses to oneself go from the outbox straight into the own log, without a socket. It is closed until the
/// instance is primary; what the log holds was compared with what the app has made by then. It owns the entry in hand. One lock; the thread
/// that reads the app and the one that opens it.
/// </summary>
internal sealed class SelfChannel(Outbox outbox, DedupTable dedup, LogAppender log)
{
    private readonly RankedLock _gate = new(LockRank.SelfChannel);
    private InboundRuns? _runs;
    private OutboxEntry? _next;
    private byte[] _copy = [];

    /// <summary>The instance is primary: what the log does not hold yet goes there.</summary>
    public void Open()
    {
        using (_gate.Enter())
        {
            // the app may say again what an earlier limit allowed
            _runs = new InboundRuns(log, dedup, dedup.Self, SizeLimits.MessageBytesMaxLimit);
            outbox.Resume(dedup.AppendedOf(dedup.Self).Number, 0);
        }
    }

    /// <summary>
    /// Takes over how far the log is durable for impulses to oneself; returns the running session's ticket of the last one that is, or 0.
    /// </summary>
    public ulong TakeDurable()
    {
        InputPosition durable = dedup.DurableOf(dedup.Self);
        return outbox.ImpulsesDurable(durable.ImpulseEpoch == dedup.Self.Epoch ? durable.Impulses : 0);
    }

    /// <summary>Logs what waits; false: no room in the log now.</summary>
    public bool TryPush()
    {
        using (_gate.Enter())
        {
            if (_runs is null) return true;
            while (_next is not null || outbox.TryNext(out OutboxEntry entry) && (_next = entry) is not null)
            {
                if (!_runs.TryTake(RunOf(_next.Value))) return false;
                outbox.Release(_next.Value);
                _next = null;
            }
            return true;
        }
    }

    private ReadOnlySpan<byte> RunOf(in OutboxEntry entry)
    {
        if (entry.Block is { } block) return block.Bytes.AsSpan((int)entry.At + FrameHeader.Bytes, entry.FrameBytes - FrameHeader.Bytes);
        if (_copy.Length < entry.FrameBytes) _copy = new byte[entry.FrameBytes];
        outbox.CopyFrame(entry, _copy.AsSpan(0, entry.FrameBytes));
        return _copy.AsSpan(FrameHeader.Bytes, entry.FrameBytes - FrameHeader.Bytes);
    }
}
