using System.Buffers;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Impulses;

/// <summary>
/// Holds impulses from outside the handlers until the output takes them: their senders encode them, the outbox numbers them with tickets
/// and puts them into runs, and they leave between the scheduler's frames. Any thread may call everything; one lock is taken for each
/// impulse, since impulses are not the hot path. Invariants: tickets of a destination are 1, 2, … without gaps in the order of the bytes;
/// at most bytesMax bytes wait to be taken.
/// </summary>
internal sealed class ImpulseOutbox(int bytesMax)
{
    private const int RunBytesTarget = 64 * 1024;
    private const int HeadersBytes = FrameHeader.Bytes + RunHeader.Bytes;

    private readonly RankedLock _gate = new(LockRank.ImpulseOutbox);
    private readonly Dictionary<Destination, ImpulseChannel> _channels = [];
    private readonly ImpulseBytes _bytes = new();

    /// <summary>The reason for which the app channel has ended; null until it has.</summary>
    private Exception? _ended;

    // The open run is the last thing that was filled in: its frame begins at _runAt. None is open while _runCount is 0.
    private Destination? _runDestination;
    private bool _runKeyed;
    private int _runAt;
    private uint _runCount;
    private ulong _runTicket;

    /// <summary>The number of bytes that wait to be taken.</summary>
    internal long Backlog
    {
        get
        {
            using (_gate.Enter()) return _bytes.Waiting;
        }
    }

    /// <summary>
    /// Adds one impulse: method, key if keyed, arguments. False: the outbox is full and nothing was added; try again when something was
    /// taken.
    /// </summary>
    /// <param name="logged">Completed when the impulse is durable; null: nobody waits.</param>
    internal bool TryAdd(Destination destination, bool keyed, ReadOnlySpan<byte> message, LoggedImpulse? logged)
    {
        using (_gate.Enter())
        {
            if (_ended is not null)
                throw new InvalidOperationException("Impulses are not accepted any more: the app channel has ended.", _ended);
            if (!HasRoom(message.Length)) return false;
            if (!_channels.TryGetValue(destination, out ImpulseChannel? channel)) _channels.Add(destination, channel = new ImpulseChannel());
            ulong ticket = channel.NextTicket(logged);
            Append(destination, keyed, ticket, message);
            return true;
        }
    }

    /// <summary>Adds a whole frame of its own. False: the outbox is full and nothing was added. Behind the end it is dropped.</summary>
    internal bool TryAddFrame(FrameType type, ReadOnlySpan<byte> payload)
    {
        using (_gate.Enter())
        {
            if (_ended is not null) return true;
            if (!HasRoom(payload.Length)) return false;
            CloseRun();
            Span<byte> frame = _bytes.Append(FrameHeader.Bytes + payload.Length);
            new FrameHeader((uint)payload.Length, type, 0).Write(frame, seed: 0);
            payload.CopyTo(frame[FrameHeader.Bytes..]);
            return true;
        }
    }

    /// <summary>Makes what was added ready to be taken, if everything before it was taken. False: nothing is ready.</summary>
    internal bool TrySwap()
    {
        using (_gate.Enter())
        {
            if (_bytes.IsDrained) CloseRun();
            return _bytes.TrySwap();
        }
    }

    /// <summary>Gives whole frames of those swapped last; they stay until <see cref="Taken"/>.</summary>
    internal bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        using (_gate.Enter())
        {
            bytes = _bytes.Draining;
            return !bytes.IsEmpty;
        }
    }

    internal void Taken(int count)
    {
        using (_gate.Enter())
        {
            _bytes.Taken(count);
        }
    }

    /// <summary>Completes all impulses to this destination up to <paramref name="ticket"/>, which are durable (P5.9).</summary>
    internal void Logged(uint destinationIndex, ulong ticket)
    {
        List<LoggedImpulse>? done = null;
        using (_gate.Enter())
        {
            foreach ((Destination destination, ImpulseChannel channel) in _channels)
                if (destination.Index == destinationIndex) done = channel.TakeLogged(ticket);
        }
        if (done is null)
            throw new ProtocolViolation("P5.9", $"impulse ticket {ticket} of destination {destinationIndex}, where none was sent");
        foreach (LoggedImpulse impulse in done) impulse.MarkLogged();
    }

    /// <summary>Tells whoever awaits an impulse to this name that nobody will learn its fate.</summary>
    internal void Forget(InstanceId peer)
    {
        var lost = new List<LoggedImpulse>();
        using (_gate.Enter())
        {
            foreach ((Destination destination, ImpulseChannel channel) in _channels)
                if (destination.Id == peer) lost.AddRange(channel.TakeAll());
        }
        foreach (LoggedImpulse impulse in lost)
            impulse.Abandon(new ImpulseOutcomeUnknownException(new InvalidOperationException($"{peer} was given up by an operator.")));
    }

    /// <summary>
    /// Ends the outbox with the channel: nobody will learn the fate of what was not reported as logged. Returns how many waiters are told
    /// so.
    /// </summary>
    internal int End(Exception why)
    {
        var lost = new List<LoggedImpulse>();
        using (_gate.Enter())
        {
            _ended = why;
            foreach (ImpulseChannel channel in _channels.Values) lost.AddRange(channel.TakeAll());
        }
        foreach (LoggedImpulse impulse in lost) impulse.Abandon(new ImpulseOutcomeUnknownException(why));
        return lost.Count;
    }

    /// <summary>Says whether so many bytes more may wait. A message that is longer than the bound goes in alone.</summary>
    private bool HasRoom(int bytes) => _bytes.Waiting == 0 || _bytes.Waiting + (long)bytes <= bytesMax;

    private void Append(Destination destination, bool keyed, ulong ticket, ReadOnlySpan<byte> message)
    {
        int size = Varint.SizeOf((ulong)message.Length) + message.Length;
        bool fits = _runCount > 0 && ReferenceEquals(_runDestination, destination) && _runKeyed == keyed
            && _bytes.Filled - _runAt + size <= RunBytesTarget;
        if (!fits)
        {
            CloseRun();
            _runDestination = destination;
            _runKeyed = keyed;
            _runTicket = ticket;
            _runAt = _bytes.Filled;
            _bytes.Append(HeadersBytes);
        }
        Span<byte> to = _bytes.Append(size);
        message.CopyTo(to[Varint.Write(to, (ulong)message.Length)..]);
        _runCount++;
    }

    private void CloseRun()
    {
        if (_runCount == 0) return;
        Span<byte> frame = _bytes.From(_runAt);
        new FrameHeader((uint)(frame.Length - FrameHeader.Bytes), FrameType.Run, 0).Write(frame, seed: 0);
        new RunHeader(MessageKind.Impulse, _runKeyed, _runDestination!.Id.Shard, _runDestination.Index, _runTicket, _runCount, 0, 0)
            .Write(frame[FrameHeader.Bytes..]);
        _runCount = 0;
    }
}

/// <summary>
/// Holds the bytes of an <see cref="ImpulseOutbox"/> in two arrays: one is filled while the other is drained, and they change places when
/// the second is empty. So bytes that were given out never move. The outbox's lock guards it.
/// </summary>
internal sealed class ImpulseBytes
{
    private const int BytesMin = 16 * 1024;

    private byte[] _filling = [];
    private byte[] _draining = [];
    private int _filled;
    private int _drainingEnd;
    private int _drained;

    /// <summary>The number of bytes that were appended since the arrays changed places.</summary>
    internal int Filled => _filled;

    internal int Waiting => _filled + (_drainingEnd - _drained);

    internal bool IsDrained => _drained == _drainingEnd;

    internal ReadOnlyMemory<byte> Draining => _draining.AsMemory(_drained, _drainingEnd - _drained);

    /// <summary>Appends so many bytes and gives them to be written.</summary>
    internal Span<byte> Append(int count)
    {
        if (_filling.Length - _filled < count)
            Array.Resize(ref _filling, (int)Math.Min(Array.MaxLength, Math.Max(BytesMin, 2L * (_filled + (long)count))));
        _filled += count;
        return _filling.AsSpan(_filled - count, count);
    }

    /// <summary>Gives what was appended behind the first <paramref name="start"/> bytes, to be written again.</summary>
    internal Span<byte> From(int start) => _filling.AsSpan(start, _filled - start);

    /// <summary>Lets the arrays change places if everything was taken. False: nothing is to be drained.</summary>
    internal bool TrySwap()
    {
        if (!IsDrained) return true;
        (_filling, _draining) = (_draining, _filling);
        _drainingEnd = _filled;
        _filled = _drained = 0;
        return _drainingEnd > 0;
    }

    internal void Taken(int count)
    {
        if ((uint)count > (uint)(_drainingEnd - _drained)) throw new ArgumentOutOfRangeException(nameof(count));
        _drained += count;
    }
}

/// <summary>Counts the tickets of one destination and holds who waits for them. The outbox's lock guards it.</summary>
internal sealed class ImpulseChannel
{
    private readonly Queue<(ulong Ticket, LoggedImpulse Impulse)> _awaited = new();
    private ulong _last;
    private ulong _logged;

    internal ulong NextTicket(LoggedImpulse? impulse)
    {
        _last++;
        if (impulse is not null) _awaited.Enqueue((_last, impulse));
        return _last;
    }

    /// <summary>Takes out who waits for the tickets up to this one, which are durable.</summary>
    /// <exception cref="ProtocolViolation">No such ticket was sent (P5.9).</exception>
    internal List<LoggedImpulse> TakeLogged(ulong upTo)
    {
        if (upTo > _last) throw new ProtocolViolation("P5.9", $"impulse ticket {upTo} where {_last} was the last one sent");
        _logged = Math.Max(_logged, upTo);
        var done = new List<LoggedImpulse>();
        while (_awaited.TryPeek(out (ulong Ticket, LoggedImpulse Impulse) next) && next.Ticket <= _logged)
            done.Add(_awaited.Dequeue().Impulse);
        return done;
    }

    internal IEnumerable<LoggedImpulse> TakeAll()
    {
        while (_awaited.TryDequeue(out (ulong Ticket, LoggedImpulse Impulse) next)) yield return next.Impulse;
    }
}
