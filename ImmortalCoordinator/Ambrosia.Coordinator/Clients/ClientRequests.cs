using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What one session has asked: gives each message to the log, and knows which are not durable or not answered yet. Invariant: at most
/// <see cref="ClientParts.RequestsMax"/> of them; a request is answered once. The in thread takes; whoever appends, commits or
/// answers tells; one lock.
/// </summary>
internal sealed class ClientRequests
{
    private const int HeadBytes = ClientSessionId.Bytes + 8 + 1;

    private readonly Lock gate = new();
    private readonly LogAppender log;
    private readonly byte[] head = new byte[HeadBytes];
    private readonly Action<Lsn> reserved;

    /// <summary>Appended and not told as durable, in the order of the log.</summary>
    private readonly Queue<(Lsn End, ulong Number, bool IsImpulse)> unlogged = new();
    private readonly HashSet<ulong> unanswered = [];
    private int impulses;

    /// <summary>Number of the last message that has its place in the log.</summary>
    private ulong taken;

    private (ulong Number, bool IsImpulse) appending;

    public ClientRequests(LogAppender log, ClientSessionId session)
    {
        this.log = log;
        session.ToUuid().TryWriteBytes(head, bigEndian: true, out _);
        reserved = Reserved;
    }

    /// <summary>Something waits to be told as durable.</summary>
    public bool HasUnlogged { get { lock (gate) return unlogged.Count > 0; } }

    /// <summary>The oldest of what waits is durable.</summary>
    public bool IsLogged(Lsn durable)
    {
        lock (gate) return unlogged.TryPeek(out (Lsn End, ulong Number, bool IsImpulse) next) && next.End <= durable;
    }

    /// <summary>False: no room in the log now; give the same run again later, and what was taken of it is passed over.</summary>
    /// <exception cref="ProtocolViolation">P10.3, P10.4.</exception>
    public bool TryTake(in RunView run)
    {
        RunHeader header = run.Header;
        Check(header);
        var messages = new MessageReader(run);
        for (ulong number = header.First; messages.Next(); number++)
            if (number > taken && !TryAppend(messages, number, header)) return false;
        return true;
    }

    private void Check(in RunHeader header)
    {
        if (header.Kind is not (MessageKind.Impulse or MessageKind.ClientRequest))
            throw new ProtocolViolation("P3.2", $"{header.Kind} from a caller outside");
        if (header.Peer != 0 || header.Shard != 0 || header.Hash != 0)
            throw new ProtocolViolation("P10.3", $"run of a caller names peer {header.Peer}");
        if (header.First == 0 || header.First > taken + 1 || header.Last <= taken)
            throw new ProtocolViolation("P10.3", $"messages {header.First} to {header.Last} where {taken + 1} is next");
        lock (gate)
        {
            ulong underWay = (ulong)(unanswered.Count + impulses) + (header.Last - taken);
            if (underWay > ClientParts.RequestsMax)
                throw new ProtocolViolation("P10.4", $"{underWay} messages under way where {ClientParts.RequestsMax} may be");
        }
    }

    private bool TryAppend(in MessageReader message, ulong number, in RunHeader run)
    {
        bool isImpulse = run.Kind == MessageKind.Impulse;
        BinaryPrimitives.WriteUInt64LittleEndian(head.AsSpan(ClientSessionId.Bytes), isImpulse ? 0 : number);
        head[^1] = run.Keyed ? (byte)1 : (byte)0;
        appending = (number, isImpulse);
        if (!log.TryAppend(RecordKind.ClientRequest, head, message.Whole, reserved)) return false;
        taken = number;
        return true;
    }

    /// <summary>The message has its place in the log; called before it can become durable, so before any answer.</summary>
    private void Reserved(Lsn end)
    {
        lock (gate)
        {
            unlogged.Enqueue((end, appending.Number, appending.IsImpulse));
            if (appending.IsImpulse) impulses++;
            else unanswered.Add(appending.Number);
        }
    }

    /// <summary>The number up to which everything has become durable since the last call; false: nothing has.</summary>
    /// <param name="end">Of the last one's record.</param>
    public bool TryTakeLogged(Lsn durable, out ulong number, out Lsn end)
    {
        number = 0;
        end = default;
        lock (gate)
        {
            while (unlogged.TryPeek(out (Lsn End, ulong Number, bool IsImpulse) next) && next.End <= durable)
            {
                unlogged.Dequeue();
                (end, number) = (next.End, next.Number);
                if (next.IsImpulse) impulses--;
            }
        }
        return number > 0;
    }

    /// <summary>The run with those of its answers that are waited for; each is so once. False: none is.</summary>
    public bool TryAnswer(in RunView run, [NotNullWhen(true)] out byte[]? answers)
    {
        answers = null;
        var kept = new List<byte>();
        uint count = 0;
        var messages = new MessageReader(run);
        lock (gate)
        {
            while (messages.Next())
            {
                if (!unanswered.Remove(messages.CallId)) continue;
                kept.AddRange(messages.Whole);
                count++;
            }
        }
        if (count == 0) return false;
        answers = new byte[RunHeader.Bytes + kept.Count];
        (run.Header with { Count = count, ExtensionBytes = 0 }).Write(answers);
        kept.CopyTo(answers, RunHeader.Bytes);
        return true;
    }
}
