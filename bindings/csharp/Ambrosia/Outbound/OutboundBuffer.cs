using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Outbound;

/// <summary>
/// Holds what the app sends, encoded once, in the order of emission. Messages go into an open run. The headers of its frame and of the run,
/// and the block that says which records made it, are reserved in front of them and filled when the run closes: at another destination or
/// kind, at RunBytesTarget, at a control frame, at Flush. Producer: the scheduler's thread. Consumer (TryTake, Taken): one thread at a
/// time, any. No message takes a lock or an allocation. Invariants: published bytes are whole frames; a message that was begun and not
/// committed is overwritten by whatever comes next.
/// </summary>
internal sealed class OutboundBuffer : IBufferWriter<byte>
{
    /// <summary>Bytes at which a run is closed: long enough to make headers free, short enough to keep the sender busy.</summary>
    private const int RunBytesTarget = 64 * 1024;
    private const int ChunkBytes = SizeLimits.BatchBytesMax;
    private const int HeadersBytes = FrameHeader.Bytes + RunHeader.Bytes, FrontBytesMax = HeadersBytes + RunCause.BlockBytes;

    private readonly OutboundChunks _chunks = new(ChunkBytes, sparesMax: 8);
    private uint _messageBytesMax = SizeLimits.MessageBytesMaxDefault;

    /// <summary>The open run, if any; its whole messages end at <see cref="_end"/>.</summary>
    private BufferedRun _run;

    /// <summary>The record that is being executed.</summary>
    private Lsn _record;

    /// <summary>The number of bytes of runs that were closed since <see cref="Closed"/> was called.</summary>
    private int _closedBytes;

    // Offsets in the chunk of the message that is being written. Its length field of _lengthBytes bytes stands at _end, what was written
    // of it ends at _at, and it may reach _limit: the chunk's end, or for a message that shares its run, the end that a run of several
    // messages may have (P3.5).
    private int _end;
    private int _at;
    private int _limit;
    private int _lengthBytes;

    /// <summary>
    /// The buffer calls it when closed runs of some size wait to be taken, and when a bound is exceeded; pumps use it, since the buffer
    /// never waits.
    /// </summary>
    internal Action<long>? Closed { get; set; }

    /// <summary>The number of bytes that were published and not taken yet.</summary>
    internal long Backlog => _chunks.Backlog;

    /// <summary>The length in bytes of the longest message that the policy in force allows. Any thread may ask.</summary>
    internal uint MessageBytesMax => _messageBytesMax;

    /// <summary>
    /// Says which record makes what is committed from here on: runs that are numbered say it (P3.7). It is told by the record, so that a
    /// message costs nothing.
    /// </summary>
    internal void BeginRecord(Lsn record)
    {
        if (_run.Count == 0) _run.First = record;
        else _run.Attribute(_record);
        _record = record;
    }

    internal void LimitMessages(uint bytesMax) => _messageBytesMax = bytesMax;

    /// <summary>Begins a message; its body is written through <see cref="IBufferWriter{T}"/> and ended by <see cref="Commit"/>.</summary>
    /// <param name="bodyBytesHint">Expected bytes after the length field; only speed depends on it.</param>
    internal void Begin(Destination destination, MessageKind kind, int bodyBytesHint = 0)
    {
        if (!_run.IsOpen || _run.Kind != kind || !ReferenceEquals(_run.Destination, destination))
        {
            Leave();
            OpenRun(destination, kind);
        }
        _at = _end;
        _lengthBytes = 0;
        ReserveLength(bodyBytesHint < 0x80 ? 1 : Varint.SizeOf((uint)bodyBytesHint));
    }

    /// <summary>Begins a message in a run of its own behind the extension blocks that <paramref name="extension"/> holds.</summary>
    internal void BeginAlone(Destination destination, MessageKind kind, ReadOnlySpan<byte> extension)
    {
        Leave();
        OpenRun(destination, kind);
        _lengthBytes = 0;
        _at = _end;
        extension.CopyTo(GetSpan(extension.Length));
        _run.ExtensionBytes += extension.Length;
        _end += extension.Length;
        _at = _end;
        ReserveLength(1);
    }

    /// <summary>Writes a whole message of a method's id and encoded arguments in one step.</summary>
    internal void Append(Destination destination, MessageKind kind, uint method, ReadOnlySpan<byte> bytes)
    {
        int body = Varint.SizeOf(method) + bytes.Length;
        int whole = Varint.SizeOf((uint)body) + body;
        if (!_run.IsOpen || _run.Kind != kind || !ReferenceEquals(_run.Destination, destination) || _limit - _end < whole
            || body > _messageBytesMax)
        {
            Begin(destination, kind, body);
            WriteVarint(method);
            bytes.CopyTo(GetSpan(bytes.Length)); // all at once: in pieces the buffer would grow with each
            _at += bytes.Length;
            Commit();
            return;
        }
        Span<byte> to = _chunks.Tail.Bytes.AsSpan(_end, whole);
        int written = Varint.Write(to, (uint)body);
        written += Varint.Write(to[written..], method);
        bytes.CopyTo(to[written..]);
        Count(whole);
    }

    internal void WriteVarint(ulong value)
    {
        Span<byte> to = GetSpan(Varint.BytesMax); // may move the message, and at with it
        _at += Varint.Write(to, value);
    }

    /// <summary>Ends the message: from here on it will be sent.</summary>
    /// <exception cref="InvalidOperationException">It is longer than the connection's message limit; nothing of it
    /// will be sent.</exception>
    internal void Commit()
    {
        int body = _at - _end - _lengthBytes;
        CheckMessage(body);
        int needed = Varint.SizeOf((uint)body);
        if (needed != _lengthBytes) MoveBody(needed, body);
        Varint.Write(_chunks.Tail.Bytes.AsSpan(_end), (uint)body);
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
        if (bytes > _messageBytesMax) throw TooLong(bytes);
    }

    /// <summary>Writes a control frame, which takes its place behind everything that was committed.</summary>
    internal void Write<T>(T payload)
        where T : IFramePayload<T>
    {
        BeginControl();
        FrameWriter.Write(this, payload, seed: 0, checkPayload: false);
        EndControl();
    }

    /// <summary>Writes a control frame whose payload is encoded already, or empty.</summary>
    internal void Write(FrameType type, ReadOnlySpan<byte> payload)
    {
        BeginControl();
        FrameWriter.Write(this, type, payload, seed: 0, checkPayload: false);
        EndControl();
    }

    /// <summary>
    /// Sends a piece as the payload of a frame, behind everything that was committed, from where it stands; it is the buffer's from here
    /// on. <see cref="EndPieces"/> follows the last one, before anything else is written.
    /// </summary>
    internal void WritePiece(FrameType type, NativePiece piece)
    {
        CloseRun();
        new FrameHeader((uint)piece.Content.Length, type, 0).Write(piece.GetSpan(), seed: 0);
        _chunks.AppendFull(piece);
    }

    /// <summary>Makes room of its own for what follows a piece.</summary>
    internal void EndPieces()
    {
        CloseRun();
        _chunks.Append(ChunkBytes, ref _end);
    }

    /// <summary>Makes everything committed ready to be taken, and lets whoever bounds the buffer wait.</summary>
    internal void WaitForRoom()
    {
        CloseRun();
        Tell();
    }

    /// <summary>Makes everything committed ready to be taken.</summary>
    internal void Flush() => CloseRun();

    internal bool TryTake(out ReadOnlyMemory<byte> bytes) => _chunks.TryTake(out bytes);

    internal void Taken(int count) => _chunks.Taken(count);

    public void Advance(int count)
    {
        if ((uint)count > (uint)(_limit - _at)) throw new ArgumentOutOfRangeException(nameof(count));
        _at += count;
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        if (_limit - _at < Math.Max(sizeHint, 1)) MoveOn(sizeHint);
        return _chunks.Tail.Bytes.AsSpan(_at, _limit - _at);
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        if (_limit - _at < Math.Max(sizeHint, 1)) MoveOn(sizeHint);
        return _chunks.Tail.Bytes.AsMemory(_at, _limit - _at);
    }

    /// <summary>Counts a message of so many bytes that stands at the end of the run, and closes the run when it is long enough.</summary>
    private void Count(int bytes)
    {
        _end += bytes;
        if (_run.Count++ == 0) _limit = Math.Min(_limit, _run.At + FrameHeader.Bytes + SizeLimits.BatchBytesMax);
        if (_end - _run.At < RunBytesTarget) return;
        CloseRun();
        Tell();
    }

    /// <summary>
    /// Closes the open run for another one. A sender to many destinations never fills any run, and is to be held back all the same.
    /// </summary>
    private void Leave()
    {
        CloseRun();
        if (_closedBytes >= RunBytesTarget) Tell();
    }

    private void Tell()
    {
        _closedBytes = 0;
        LockChecks.BeforeCallOut();
        Closed?.Invoke(Backlog);
    }

    private void ReserveLength(int bytes)
    {
        if (_limit - _at < bytes) MoveOn(bytes);
        _lengthBytes = bytes;
        _at += bytes;
    }

    private void OpenRun(Destination destination, MessageKind kind)
    {
        if (_chunks.Tail.Bytes.Length - _end < FrontBytesMax + 64) _chunks.Append(ChunkBytes, ref _end);
        _run.IsOpen = true;
        _run.Destination = destination;
        _run.Kind = kind;
        _run.Count = 0;
        _run.Attributed = 0;
        _run.First = _record;
        _run.ExtensionBytes = _run.HasCause ? RunCause.BlockBytes : 0;
        _run.At = _end;
        _end += HeadersBytes + _run.ExtensionBytes;
        _limit = _chunks.Tail.Bytes.Length;
    }

    private void CloseRun()
    {
        if (!_run.IsOpen) return;
        _run.IsOpen = false;
        if (_run.Count == 0)
        {
            _end = _run.At;
            return;
        }
        Span<byte> frame = _chunks.Tail.Bytes.AsSpan(_run.At, _end - _run.At);
        _run.Attribute(_record);
        _run.WriteHeaders(frame);
        _chunks.Publish(_end);
        _closedBytes += frame.Length;
    }

    private void BeginControl()
    {
        CloseRun();
        _lengthBytes = 0;
        _at = _end;
        _limit = _chunks.Tail.Bytes.Length;
    }

    private void EndControl()
    {
        _end = _at;
        _chunks.Publish(_end);
    }

    /// <summary>Moves the body, because its length field turned out to be of another size than was reserved.</summary>
    private void MoveBody(int needed, int body)
    {
        if (needed > _lengthBytes && _limit - _at < needed - _lengthBytes) MoveOn(needed - _lengthBytes);
        Span<byte> from = _chunks.Tail.Bytes.AsSpan(_end + _lengthBytes, body);
        from.CopyTo(_chunks.Tail.Bytes.AsSpan(_end + needed));
    }

    /// <summary>
    /// Continues the message in a new chunk with room for <paramref name="more"/> bytes; the messages before it stay behind.
    /// </summary>
    private void MoveOn(int more)
    {
        bool alone = !_run.IsOpen || _run.Count == 0;
        int from = alone && _run.IsOpen ? _run.At : _end;
        int written = _at - from;
        int lengthMore = LengthMissing(more);
        // What is asked for at once, as a large argument is, gets its size; what grows by pieces gets as much again.
        long size = Math.Max(ChunkBytes, (more > written ? 1L : 2L) * (written + more + lengthMore) + FrontBytesMax + Varint.BytesMax);
        if (written + (long)more > _messageBytesMax + 2L * SizeLimits.PayloadBytesBeyondMessage) throw TooLong(written + (long)more);

        byte[] old = _chunks.Tail.Bytes;
        if (!alone)
        {
            Destination destination = _run.Destination!;
            CloseRun();
            _chunks.Append((int)Math.Min(size, Array.MaxLength), ref _end);
            OpenRun(destination, _run.Kind);
        }
        else
        {
            int messageOffset = _end - from;
            _end = from;
            _chunks.Append((int)Math.Min(size, Array.MaxLength), ref _end);
            _run.At = _end;
            _end += messageOffset;
        }
        int to = alone ? _run.At : _end, head = _end - to + _lengthBytes;
        old.AsSpan(from, head).CopyTo(_chunks.Tail.Bytes.AsSpan(to));
        _lengthBytes += lengthMore;
        old.AsSpan(from + head, written - head).CopyTo(_chunks.Tail.Bytes.AsSpan(to + head + lengthMore));
        _at = to + written + lengthMore;
        _limit = _chunks.Tail.Bytes.Length;
    }

    /// <summary>
    /// Returns the number of bytes that the length field lacks for a message that grows by <paramref name="more"/> bytes. The field is made
    /// that much longer at once, so that the body need not be moved when the message ends.
    /// </summary>
    private int LengthMissing(int more) =>
        _lengthBytes == 0 ? 0 : Math.Max(0, Varint.SizeOf((ulong)(_at - _end - _lengthBytes) + (ulong)more) - _lengthBytes);

    private OverLimitException TooLong(long bytes) => new(bytes, _messageBytesMax);

    /// <summary>A run that takes messages. Its headers are written when it closes, as only then its size is known.</summary>
    private struct BufferedRun
    {
        internal bool IsOpen;
        internal Destination? Destination;
        internal MessageKind Kind;
        internal uint Count;

        /// <summary>The records that made the first and the last of its messages, as far as they are attributed.</summary>
        internal Lsn First, Last;

        /// <summary>The number of messages whose record is known: those up to the end of the last record that made some.</summary>
        internal uint Attributed;

        /// <summary>The size in bytes of the extension blocks between the headers and the first message.</summary>
        internal int ExtensionBytes;

        /// <summary>The offset in the chunk at which the frame of the run begins.</summary>
        internal int At;

        /// <summary>True where the run says what made it: a caller outside has no use for places in this log.</summary>
        internal readonly bool HasCause => Kind <= MessageKind.Failure;

        /// <summary>Says that a record which ends here made the messages that are not attributed yet.</summary>
        internal void Attribute(Lsn record)
        {
            if (Count == Attributed) return;
            Last = record;
            Attributed = Count;
        }

        internal readonly void WriteHeaders(Span<byte> frame)
        {
            new FrameHeader((uint)(frame.Length - FrameHeader.Bytes), FrameType.Run, 0).Write(frame, seed: 0);
            ClientSessionId session = Destination!.Session; // all zeros where the destination is an instance
            new RunHeader(
                Kind, false, Destination.Id.Shard, Destination.Index, session.Number, Count, (uint)ExtensionBytes, session.Epoch.Value)
                .Write(frame[FrameHeader.Bytes..]);
            if (HasCause) new RunCause(First, Last).WriteBlock(frame[HeadersBytes..]);
        }
    }
}
