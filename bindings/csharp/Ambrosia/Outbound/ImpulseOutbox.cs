// Impulses from outside the handlers: encoded by their senders, numbered with tickets, put into runs, and drained into the output stream
// between the scheduler's frames. Any thread may call everything; one lock, taken per impulse (impulses are not the hot path).
// Invariants: tickets of a destination are 1, 2, … without gaps in the order of the bytes; at most bytesMax wait to be drained.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class ImpulseOutbox(int bytesMax)
{
    private const int RunBytesTarget = 64 * 1024;
    private const int HeadersBytes = FrameHeader.Bytes + RunHeader.Bytes;

    private readonly Lock gate = new();
    private readonly Dictionary<Destination, ImpulseChannel> channels = [];
    private byte[] filling = [];
    private byte[] draining = [];
    private int filled;
    private int drainingEnd;
    private int drained;
    private Exception? ended;

    // The open run is the last thing in filling: its frame begins at runAt.
    private Destination? runDestination;
    private bool runKeyed;
    private int runAt;
    private uint runCount;
    private ulong runTicket;

    /// <summary>Bytes that wait to be drained.</summary>
    internal long Backlog
    {
        get
        {
            lock (gate) return filled + (drainingEnd - drained);
        }
    }

    /// <summary>
    /// Adds one impulse: method, key if keyed, arguments. False: full, nothing was added; try again when something was drained.
    /// </summary>
    /// <param name="logged">Completed when the impulse is durable; null: nobody waits.</param>
    internal bool TryAdd(Destination destination, bool keyed, ReadOnlySpan<byte> message, LoggedImpulse? logged)
    {
        lock (gate)
        {
            if (ended is not null)
                throw new InvalidOperationException("Impulses are not accepted any more: the app channel has ended.", ended);
            int waiting = filled + (drainingEnd - drained);
            if (waiting > 0 && waiting + (long)message.Length > bytesMax) return false;
            if (!channels.TryGetValue(destination, out ImpulseChannel? channel)) channels.Add(destination, channel = new ImpulseChannel());
            ulong ticket = channel.NextTicket(logged);
            Append(destination, keyed, ticket, message);
            return true;
        }
    }

    /// <summary>Adds a whole frame of its own. False: full, nothing was added. Behind the end it is dropped.</summary>
    internal bool TryAddFrame(FrameType type, ReadOnlySpan<byte> payload)
    {
        lock (gate)
        {
            if (ended is not null) return true;
            int waiting = filled + (drainingEnd - drained);
            if (waiting > 0 && waiting + (long)payload.Length > bytesMax) return false;
            CloseRun();
            Reserve(FrameHeader.Bytes + payload.Length);
            new FrameHeader((uint)payload.Length, type, 0).Write(filling.AsSpan(filled), seed: 0);
            payload.CopyTo(filling.AsSpan(filled + FrameHeader.Bytes));
            filled += FrameHeader.Bytes + payload.Length;
            return true;
        }
    }

    /// <summary>Makes what was added ready to be taken, if everything before it was taken. False: nothing is ready.</summary>
    internal bool TrySwap()
    {
        lock (gate)
        {
            if (drained < drainingEnd) return true;
            CloseRun();
            (filling, draining) = (draining, filling);
            drainingEnd = filled;
            filled = drained = 0;
            return drainingEnd > 0;
        }
    }

    /// <summary>Whole frames to send, of those swapped last; they stay until <see cref="Taken"/>.</summary>
    internal bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        lock (gate)
        {
            bytes = draining.AsMemory(drained, drainingEnd - drained);
            return !bytes.IsEmpty;
        }
    }

    internal void Taken(int count)
    {
        lock (gate)
        {
            if ((uint)count > (uint)(drainingEnd - drained)) throw new ArgumentOutOfRangeException(nameof(count));
            drained += count;
        }
    }

    /// <summary>P5.9: all impulses to this destination up to <paramref name="ticket"/> are durable.</summary>
    internal void Logged(uint destinationIndex, ulong ticket)
    {
        List<LoggedImpulse>? done = null;
        lock (gate)
        {
            foreach ((Destination destination, ImpulseChannel channel) in channels)
                if (destination.Index == destinationIndex) done = channel.TakeLogged(ticket);
        }
        if (done is null)
            throw new ProtocolViolation("P5.9", $"impulse ticket {ticket} of destination {destinationIndex}, where none was sent");
        foreach (LoggedImpulse impulse in done) impulse.MarkLogged();
    }

    /// <summary>Whoever awaits an impulse to this name is told that nobody will learn its fate.</summary>
    internal void Forget(InstanceId peer)
    {
        var lost = new List<LoggedImpulse>();
        lock (gate)
        {
            foreach ((Destination destination, ImpulseChannel channel) in channels)
                if (destination.Id == peer) lost.AddRange(channel.TakeAll());
        }
        foreach (LoggedImpulse impulse in lost)
            impulse.Abandon(new ImpulseOutcomeUnknownException(new InvalidOperationException($"{peer} was given up by an operator.")));
    }

    /// <summary>The channel ended: nobody will learn the fate of what was not reported as logged. Returns how many are told so.</summary>
    internal int End(Exception why)
    {
        var lost = new List<LoggedImpulse>();
        lock (gate)
        {
            ended = why;
            foreach (ImpulseChannel channel in channels.Values) lost.AddRange(channel.TakeAll());
        }
        foreach (LoggedImpulse impulse in lost) impulse.Abandon(new ImpulseOutcomeUnknownException(why));
        return lost.Count;
    }

    private void Append(Destination destination, bool keyed, ulong ticket, ReadOnlySpan<byte> message)
    {
        int size = Varint.SizeOf((ulong)message.Length) + message.Length;
        bool fits = runCount > 0 && ReferenceEquals(runDestination, destination) && runKeyed == keyed
            && filled - runAt + size <= RunBytesTarget;
        if (!fits)
        {
            CloseRun();
            runDestination = destination;
            runKeyed = keyed;
            runTicket = ticket;
            runAt = filled;
            Reserve(HeadersBytes);
            filled += HeadersBytes;
        }
        Reserve(size);
        filled += Varint.Write(filling.AsSpan(filled), (ulong)message.Length);
        message.CopyTo(filling.AsSpan(filled));
        filled += message.Length;
        runCount++;
    }

    private void CloseRun()
    {
        if (runCount == 0) return;
        Span<byte> frame = filling.AsSpan(runAt, filled - runAt);
        new FrameHeader((uint)(frame.Length - FrameHeader.Bytes), FrameType.Run, 0).Write(frame, seed: 0);
        new RunHeader(MessageKind.Impulse, runKeyed, runDestination!.Id.Shard, runDestination.Index, runTicket, runCount, 0, 0)
            .Write(frame[FrameHeader.Bytes..]);
        runCount = 0;
    }

    private void Reserve(int more)
    {
        if (filling.Length - filled < more)
            Array.Resize(ref filling, (int)Math.Min(Array.MaxLength, Math.Max(16 * 1024, 2L * (filled + (long)more))));
    }
}
