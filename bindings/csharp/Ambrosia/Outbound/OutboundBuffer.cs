// What the app sends, encoded once, in the order of emission. Messages go into an open run, whose frame and run headers are reserved
// in front of them and filled when it closes: at another destination or kind, at RunBytesTarget, at a control frame, at Flush.
// Producer: the scheduler's thread. Consumer (TryTake, Taken): one thread at a time, any. No lock and no allocation per message.
// Invariants: published bytes are whole frames; a message that was begun and not committed is overwritten by whatever comes next.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class OutboundBuffer : IBufferWriter<byte>
{
    /// <summary>A run is closed once it is this long: long enough to make headers free, short enough to keep the sender busy.</summary>
    private const int RunBytesTarget = 64 * 1024;
    private const int ChunkBytes = RunHeader.RunBytesMax;
    private const int HeadersBytes = FrameHeader.Bytes + RunHeader.Bytes;

    private readonly OutboundChunks chunks = new(ChunkBytes, sparesMax: 8);
    private uint messageBytesMax = Frames.MessageBytesMaxDefault;

    // The open run, if any: its frame begins at runAt, its whole messages end at end.
    private bool runOpen;
    private Destination? runDestination;
    private MessageKind runKind;
    private uint runCount;
    private int runExtensionBytes;
    private int runAt;

    /// <summary>Bytes of runs that were closed since <see cref="Closed"/> was called.</summary>
    private int closedBytes;

    // The message being written: its length field of lengthBytes is at end, what was written of it ends at at, and may reach limit:
    // the chunk's end, or for a message that shares its run, the end that a run of several may have (P3.5).
    private int end;
    private int at;
    private int limit;
    private int lengthBytes;

    /// <summary>
    /// Called when closed runs of some size wait to be taken, and when a bound is exceeded; pumps use it, the part never waits.
    /// </summary>
    internal Action<long>? Closed { get; set; }

    /// <summary>Bytes that were published and not taken yet.</summary>
    internal long Backlog => chunks.Backlog;

    /// <summary>Longest message in force; any thread.</summary>
    internal uint MessageBytesMax => messageBytesMax;

    internal void LimitMessages(uint bytesMax) => messageBytesMax = bytesMax;

    /// <summary>Begins a message; its body is written through <see cref="IBufferWriter{T}"/> and ended by <see cref="Commit"/>.</summary>
    /// <param name="bodyBytesHint">Expected bytes after the length field; only speed depends on it.</param>
    internal void Begin(Destination destination, MessageKind kind, int bodyBytesHint = 0)
    {
        if (!runOpen || runKind != kind || !ReferenceEquals(runDestination, destination))
        {
            Leave();
            OpenRun(destination, kind);
        }
        at = end;
        lengthBytes = 0;
        ReserveLength(bodyBytesHint < 0x80 ? 1 : Varint.SizeOf((uint)bodyBytesHint));
    }

    /// <summary>Begins a message in a run of its own behind the extension blocks that <paramref name="extension"/> holds.</summary>
    internal void BeginAlone(Destination destination, MessageKind kind, ReadOnlySpan<byte> extension)
    {
        Leave();
        OpenRun(destination, kind);
        lengthBytes = 0;
        at = end;
        extension.CopyTo(GetSpan(extension.Length));
        runExtensionBytes = extension.Length;
        end += extension.Length;
        at = end;
        ReserveLength(1);
    }

    /// <summary>A whole message of an id and bytes, in one step.</summary>
    internal void Append(Destination destination, MessageKind kind, uint method, ReadOnlySpan<byte> bytes)
    {
        int body = Varint.SizeOf(method) + bytes.Length;
        int whole = Varint.SizeOf((uint)body) + body;
        if (!runOpen || runKind != kind || !ReferenceEquals(runDestination, destination) || limit - end < whole || body > messageBytesMax)
        {
            Begin(destination, kind, body);
            WriteVarint(method);
            bytes.CopyTo(GetSpan(bytes.Length)); // all at once: in pieces the buffer would grow with each
            at += bytes.Length;
            Commit();
            return;
        }
        Span<byte> to = chunks.Tail.Bytes.AsSpan(end, whole);
        int written = Varint.Write(to, (uint)body);
        written += Varint.Write(to[written..], method);
        bytes.CopyTo(to[written..]);
        Count(whole);
    }

    internal void WriteVarint(ulong value)
    {
        Span<byte> to = GetSpan(Varint.BytesMax); // may move the message, and at with it
        at += Varint.Write(to, value);
    }

    /// <summary>Ends the message: from here on it will be sent.</summary>
    /// <exception cref="InvalidOperationException">It is longer than the connection's message limit; nothing of it
    /// will be sent.</exception>
    internal void Commit()
    {
        int body = at - end - lengthBytes;
        CheckMessage(body);
        int needed = Varint.SizeOf((uint)body);
        if (needed != lengthBytes) MoveBody(needed, body);
        Varint.Write(chunks.Tail.Bytes.AsSpan(end), (uint)body);
        Count(needed + body);
    }

    /// <summary>Ends a message that was begun by <see cref="BeginAlone"/>, and its run.</summary>
    internal void CommitAlone()
    {
        Commit();
        CloseRun();
    }

    /// <exception cref="InvalidOperationException">A message of so many bytes is over the limit.</exception>
    internal void CheckMessage(long bytes)
    {
        if (bytes > messageBytesMax) throw TooLong(bytes);
    }

    /// <summary>A control frame: takes its place behind everything that was committed.</summary>
    internal void Write<T>(T payload)
        where T : IFramePayload<T>
    {
        BeginControl();
        Frames.Write(this, payload, seed: 0, checkPayload: false);
        EndControl();
    }

    /// <summary>A control frame whose payload is bytes, or empty.</summary>
    internal void Write(FrameType type, ReadOnlySpan<byte> payload)
    {
        BeginControl();
        Frames.Write(this, type, payload, seed: 0, checkPayload: false);
        EndControl();
    }

    /// <summary>Makes everything committed ready to be taken.</summary>
    internal void Flush() => CloseRun();

    internal bool TryTake(out ReadOnlyMemory<byte> bytes) => chunks.TryTake(out bytes);

    internal void Taken(int count) => chunks.Taken(count);

    public void Advance(int count)
    {
        if ((uint)count > (uint)(limit - at)) throw new ArgumentOutOfRangeException(nameof(count));
        at += count;
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        if (limit - at < Math.Max(sizeHint, 1)) MoveOn(sizeHint);
        return chunks.Tail.Bytes.AsSpan(at, limit - at);
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        if (limit - at < Math.Max(sizeHint, 1)) MoveOn(sizeHint);
        return chunks.Tail.Bytes.AsMemory(at, limit - at);
    }

    /// <summary>A message of so many bytes stands at the end of the run.</summary>
    private void Count(int bytes)
    {
        end += bytes;
        if (runCount++ == 0) limit = Math.Min(limit, runAt + FrameHeader.Bytes + RunHeader.RunBytesMax);
        if (end - runAt < RunBytesTarget) return;
        CloseRun();
        Tell();
    }

    /// <summary>Ends the open run for another one. One who speaks to many never fills any, and is to be held back all the same.</summary>
    private void Leave()
    {
        CloseRun();
        if (closedBytes >= RunBytesTarget) Tell();
    }

    private void Tell()
    {
        closedBytes = 0;
        Closed?.Invoke(Backlog);
    }

    private void ReserveLength(int bytes)
    {
        if (limit - at < bytes) MoveOn(bytes);
        lengthBytes = bytes;
        at += bytes;
    }

    private void OpenRun(Destination destination, MessageKind kind)
    {
        if (chunks.Tail.Bytes.Length - end < HeadersBytes + 64) chunks.Append(ChunkBytes, ref end);
        runOpen = true;
        runDestination = destination;
        runKind = kind;
        runCount = 0;
        runExtensionBytes = 0;
        runAt = end;
        end += HeadersBytes;
        limit = chunks.Tail.Bytes.Length;
    }

    private void CloseRun()
    {
        if (!runOpen) return;
        runOpen = false;
        if (runCount == 0)
        {
            end = runAt;
            return;
        }
        Span<byte> frame = chunks.Tail.Bytes.AsSpan(runAt, end - runAt);
        new FrameHeader((uint)(frame.Length - FrameHeader.Bytes), FrameType.Run, 0).Write(frame, seed: 0);
        ClientSessionId session = runDestination!.Session; // all zeros where the destination is an instance
        new RunHeader(runKind, false, runDestination.Id.Shard, runDestination.Index, session.Number, runCount, (uint)runExtensionBytes,
            session.Epoch.Value)
            .Write(frame[FrameHeader.Bytes..]);
        chunks.Publish(end);
        closedBytes += frame.Length;
    }

    private void BeginControl()
    {
        CloseRun();
        lengthBytes = 0;
        at = end;
        limit = chunks.Tail.Bytes.Length;
    }

    private void EndControl()
    {
        end = at;
        chunks.Publish(end);
    }

    /// <summary>The length field turned out to be of another size than was reserved.</summary>
    private void MoveBody(int needed, int body)
    {
        if (needed > lengthBytes && limit - at < needed - lengthBytes) MoveOn(needed - lengthBytes);
        Span<byte> from = chunks.Tail.Bytes.AsSpan(end + lengthBytes, body);
        from.CopyTo(chunks.Tail.Bytes.AsSpan(end + needed));
    }

    /// <summary>
    /// Continues the message in a new chunk with room for <paramref name="more"/> bytes; the messages before it stay behind.
    /// </summary>
    private void MoveOn(int more)
    {
        bool alone = !runOpen || runCount == 0;
        int from = alone && runOpen ? runAt : end;
        int written = at - from;
        int lengthMore = LengthMissing(more);
        // What is asked for at once, as a large argument is, gets its size; what grows by pieces gets as much again.
        long size = Math.Max(ChunkBytes, (more > written ? 1L : 2L) * (written + more + lengthMore) + HeadersBytes + Varint.BytesMax);
        if (written + (long)more > messageBytesMax + 2L * Frames.PayloadBytesBeyondMessage) throw TooLong(written + (long)more);

        byte[] old = chunks.Tail.Bytes;
        if (!alone)
        {
            Destination destination = runDestination!;
            CloseRun();
            chunks.Append((int)Math.Min(size, Array.MaxLength), ref end);
            OpenRun(destination, runKind);
        }
        else
        {
            int messageOffset = end - from;
            end = from;
            chunks.Append((int)Math.Min(size, Array.MaxLength), ref end);
            runAt = end;
            end += messageOffset;
        }
        int to = alone ? runAt : end, head = end - to + lengthBytes;
        old.AsSpan(from, head).CopyTo(chunks.Tail.Bytes.AsSpan(to));
        lengthBytes += lengthMore;
        old.AsSpan(from + head, written - head).CopyTo(chunks.Tail.Bytes.AsSpan(to + head + lengthMore));
        at = to + written + lengthMore;
        limit = chunks.Tail.Bytes.Length;
    }

    /// <summary>
    /// By how much the length field is too short for a message with so many bytes more; so it need not be moved when it ends.
    /// </summary>
    private int LengthMissing(int more) =>
        lengthBytes == 0 ? 0 : Math.Max(0, Varint.SizeOf((ulong)(at - end - lengthBytes) + (ulong)more) - lengthBytes);

    private InvalidOperationException TooLong(long bytes) =>
        new($"A message of {bytes} bytes is longer than the limit of {messageBytesMax} bytes (protocol P3.4); send it in parts.");
}
