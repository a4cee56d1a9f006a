using System.Buffers;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Step 5 of a call: it knows what goes next over one connection. It sends an outbox on from the peer's durable position, several frames at
/// once where they stand side by side in a block, straight from the memory into which they were received; short ones that stand apart are
/// copied together. Owns the held entries between <see cref="TryTake"/> and <see cref="Taken"/>. The connection's sending thread.
/// </summary>
/// <param name="messageBytesMax">The receiver's message limit (P6.11).</param>
internal sealed class SendCursor(Outbox outbox, uint seed, uint messageBytesMax)
{
    /// <summary>Frames put together for one send.</summary>
    private const int SendBytesMax = 256 * 1024;

    /// <summary>Frames copied together for one send: the copy costs less than a send of each.</summary>
    private const int GatherBytesMax = 64 * 1024;

    private readonly List<OutboxEntry> _held = [];

    /// <summary>The calls that are sent and not yet acknowledged: the bytes of an acknowledgement are counted by them.</summary>
    private readonly RankedLock _gate = new(LockRank.SendCursor);
    private readonly Queue<(ulong Number, int Bytes)> _unacknowledged = new();
    private OutboxEntry? _next;
    private byte[] _copy = [];

    /// <summary>The buffer rented while gathered frames are being sent; else null.</summary>
    private byte[]? _gathered;
    private uint _skip;

    /// <summary>The length of the next message, which the receiver does not take: nothing more is sent. 0: it takes what comes.</summary>
    public uint TooLong { get; private set; }

    /// <summary>Starts behind what the peer has.</summary>
    public void Resume(ulong calls, ulong impulses) => _skip = outbox.Resume(calls, impulses);

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (_held.Count > 0) throw new InvalidOperationException("what was taken before has not been sent");
        if (!TryHold(out OutboxEntry first)) return false;
        Crash.Hit("out.beforeSend");
        bytes = first.Block is null || _skip > 0 ? CopyOf(first) : TakeNeighbours(first);
        return true;
    }

    private bool TryHold(out OutboxEntry entry)
    {
        if (_next is { } waiting) { entry = waiting; _next = null; }
        else if (!outbox.TryNext(out entry)) return false;
        if (!Fits(entry)) { _next = entry; return false; }
        Add(entry);
        return true;
    }

    /// <summary>Only a frame that is longer than the limit can hold a message that is, and few are.</summary>
    private bool Fits(in OutboxEntry entry) => entry.FrameBytes <= messageBytesMax || FitsByMessage(entry);

    private bool FitsByMessage(in OutboxEntry entry)
    {
        byte[] frame = new byte[entry.FrameBytes];
        outbox.CopyFrame(entry, frame);
        RunView run = RunView.Read(frame.AsSpan(FrameHeader.Bytes));
        uint longest = MessageScanner.Longest(run.Messages[MessageScanner.Skip(run.Messages, _skip)..]);
        if (longest > messageBytesMax) TooLong = longest;
        return longest <= messageBytesMax;
    }

    private void Add(in OutboxEntry entry)
    {
        _held.Add(entry);
        if (entry.IsImpulse) return;
        using (_gate.Enter()) _unacknowledged.Enqueue((entry.End.Number, entry.FrameBytes));
    }

    /// <summary>The peer has everything up to <paramref name="number"/>: returns how many bytes that is since the last time.</summary>
    public long Acknowledged(ulong number)
    {
        long bytes = 0;
        using (_gate.Enter())
            while (_unacknowledged.TryPeek(out var first) && first.Number <= number) bytes += _unacknowledged.Dequeue().Bytes;
        return bytes;
    }

    private ReadOnlyMemory<byte> TakeNeighbours(OutboxEntry first)
    {
        BlockPool.Block block = first.Block!;
        Seal(block.Bytes.AsSpan((int)first.At, first.FrameBytes));
        long end = first.At + first.FrameBytes;
        while (end - first.At < SendBytesMax && outbox.TryNext(out OutboxEntry entry))
        {
            if (entry.Block != block || entry.At != end || !Fits(entry)) { _next = entry; break; }
            Seal(block.Bytes.AsSpan((int)entry.At, entry.FrameBytes));
            Add(entry);
            end += entry.FrameBytes;
        }
        Memory<byte> neighbours = block.Bytes.AsMemory((int)first.At, (int)(end - first.At));
        return _next is { } apart && MayGather(apart, neighbours.Length) ? Gather(neighbours) : neighbours;
    }

    /// <summary>What comes next; it is held, and stays next until that is cleared.</summary>
    private bool TryPeek(out OutboxEntry entry)
    {
        if (_next is null && outbox.TryNext(out entry)) _next = entry;
        entry = _next.GetValueOrDefault();
        return _next is not null;
    }

    private static bool MayGather(in OutboxEntry entry, int before) =>
        entry.Block is not null && before + entry.FrameBytes <= GatherBytesMax;

    /// <summary>An app that speaks to many leaves the runs to each apart from one another.</summary>
    private ReadOnlyMemory<byte> Gather(ReadOnlyMemory<byte> neighbours)
    {
        _gathered = ArrayPool<byte>.Shared.Rent(GatherBytesMax);
        neighbours.CopyTo(_gathered);
        int end = neighbours.Length;
        while (TryPeek(out OutboxEntry entry) && MayGather(entry, end) && Fits(entry))
        {
            Span<byte> frame = _gathered.AsSpan(end, entry.FrameBytes);
            outbox.CopyFrame(entry, frame);
            Seal(frame);
            Add(entry);
            _next = null;
            end += entry.FrameBytes;
        }
        return _gathered.AsMemory(0, end);
    }

    /// <summary>An entry from the scratch file, or the rest of one whose beginning the peer has.</summary>
    private ReadOnlyMemory<byte> CopyOf(in OutboxEntry entry)
    {
        if (_copy.Length < entry.FrameBytes) _copy = new byte[entry.FrameBytes];
        Span<byte> frame = _copy.AsSpan(0, entry.FrameBytes);
        outbox.CopyFrame(entry, frame);
        int start = _skip == 0 ? 0 : CutFront(frame);
        _skip = 0;
        Seal(frame[start..]);
        return _copy.AsMemory(start, frame.Length - start);
    }

    /// <summary>Moves the headers up over the messages that the peer has; returns where the frame begins now.</summary>
    private int CutFront(Span<byte> frame)
    {
        RunView run = RunView.Read(frame[FrameHeader.Bytes..]);
        RunHeader rest = run.Header.CutFirst(_skip);
        int gone = MessageScanner.Skip(run.Messages, _skip);
        int front = FrameHeader.Bytes + RunHeader.Bytes + (int)rest.ExtensionBytes;
        frame[..front].CopyTo(frame[gone..]);
        rest.Write(frame[(gone + FrameHeader.Bytes)..]);
        return gone;
    }

    private void Seal(Span<byte> frame)
    {
        Span<byte> payload = frame[FrameHeader.Bytes..];
        new FrameHeader((uint)payload.Length, FrameType.Run, Crc32C.Of(payload)).Write(frame, seed);
    }

    /// <summary>What <see cref="TryTake"/> gave is sent, or will never be.</summary>
    public void Taken()
    {
        foreach (OutboxEntry entry in _held) outbox.Release(entry);
        _held.Clear();
        if (_gathered is { } sent) ArrayPool<byte>.Shared.Return(sent);
        _gathered = null;
        Crash.Hit("out.afterSend");
    }

    /// <summary>The connection is over.</summary>
    public void End()
    {
        Taken();
        if (_next is { } waiting) outbox.Release(waiting);
        _next = null;
    }
}
