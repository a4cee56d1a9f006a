using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Clients;

/// <summary>
/// The requests of one session: it gives each message to the log, and knows which are not durable or not answered yet. Invariant: at most
/// <see cref="ClientSession.RequestsMax"/> of them; a request is answered once. The in thread takes; whoever appends, commits or
/// answers tells; one lock.
/// </summary>
internal sealed class ClientRequests
{
    private const int HeadBytes = ClientSessionId.Bytes + 8 + 1;

    private readonly RankedLock _gate = new(LockRank.ClientRequests);
    private readonly LogAppender _log;
    private readonly byte[] _head = new byte[HeadBytes];
    private readonly Action<Lsn> _reserved;

    /// <summary>The messages that are appended and not told as durable, in the order of the log.</summary>
    private readonly Queue<(Lsn End, ulong Number, bool IsImpulse)> _unlogged = new();
    private readonly HashSet<ulong> _unanswered = [];
    private int _impulses;

    /// <summary>The number of the last message that has its place in the log.</summary>
    private ulong _taken;

    private (ulong Number, bool IsImpulse) _appending;

    public ClientRequests(LogAppender log, ClientSessionId session)
    {
        _log = log;
        session.ToUuid().TryWriteBytes(_head, bigEndian: true, out _);
        _reserved = Reserved;
    }

    /// <summary>Something waits to be told as durable.</summary>
    public bool HasUnlogged { get { using (_gate.Enter()) return _unlogged.Count > 0; } }

    /// <summary>True when the oldest of what waits is durable.</summary>
    public bool IsLogged
    {
        get
        {
            using (_gate.Enter())
                return _unlogged.TryPeek(out (Lsn End, ulong Number, bool IsImpulse) next) && next.End <= _log.Durable;
        }
    }

    /// <summary>False: no room in the log now; give the same run again later, and what was taken of it is passed over.</summary>
    /// <exception cref="ProtocolViolation">P10.3, P10.4.</exception>
    public bool TryTake(in RunView run)
    {
        RunHeader header = run.Header;
        Check(header);
        var messages = new MessageReader(run);
        for (ulong number = header.First; messages.Next(); number++)
            if (number > _taken && !TryAppend(messages, number, header)) return false;
        return true;
    }

    private void Check(in RunHeader header)
    {
        if (header.Kind is not (MessageKind.Impulse or MessageKind.ClientRequest))
            throw new ProtocolViolation("P3.2", $"{header.Kind} from a caller outside");
        if (header.Peer != 0 || header.Shard != 0 || header.Hash != 0)
            throw new ProtocolViolation("P10.3", $"run of a caller names peer {header.Peer}");
        if (header.First == 0 || header.First > _taken + 1 || header.Last <= _taken)
            throw new ProtocolViolation("P10.3", $"messages {header.First} to {header.Last} where {_taken + 1} is next");
        using (_gate.Enter())
        {
            ulong underWay = (ulong)(_unanswered.Count + _impulses) + (header.Last - _taken);
            if (underWay > ClientSession.RequestsMax)
                throw new ProtocolViolation("P10.4", $"{underWay} messages under way where {ClientSession.RequestsMax} may be");
        }
    }

    private bool TryAppend(in MessageReader message, ulong number, in RunHeader run)
    {
        if (_log.RefusesCallers) return false;
        bool isImpulse = run.Kind == MessageKind.Impulse;
        BinaryPrimitives.WriteUInt64LittleEndian(_head.AsSpan(ClientSessionId.Bytes), isImpulse ? 0 : number);
        _head[^1] = run.Keyed ? (byte)1 : (byte)0;
        _appending = (number, isImpulse);
        if (!_log.TryAppend(RecordKind.ClientRequest, _head, message.Whole, _reserved)) return false;
        _taken = number;
        return true;
    }

    /// <summary>The message has its place in the log; called before it can become durable, so before any answer.</summary>
    private void Reserved(Lsn end)
    {
        using (_gate.Enter())
        {
            _unlogged.Enqueue((end, _appending.Number, _appending.IsImpulse));
            if (_appending.IsImpulse) _impulses++;
            else _unanswered.Add(_appending.Number);
        }
    }

    /// <summary>True while logged requests have no answer, or logged impulses were not told.</summary>
    public bool AreAwaited { get { using (_gate.Enter()) return _unanswered.Count > 0 || _unlogged.Count > 0; } }

    /// <summary>The number up to which everything has become durable since the last call; false: nothing has.</summary>
    /// <param name="end">The end of the last one's record.</param>
    public bool TryTakeLogged(out ulong number, out Lsn end)
    {
        number = 0;
        end = default;
        Lsn durable = _log.Durable;
        using (_gate.Enter())
        {
            while (_unlogged.TryPeek(out (Lsn End, ulong Number, bool IsImpulse) next) && next.End <= durable)
            {
                _unlogged.Dequeue();
                (end, number) = (next.End, next.Number);
                if (next.IsImpulse) _impulses--;
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
        using (_gate.Enter())
        {
            while (messages.Next())
            {
                if (!_unanswered.Remove(messages.CallId)) continue;
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
