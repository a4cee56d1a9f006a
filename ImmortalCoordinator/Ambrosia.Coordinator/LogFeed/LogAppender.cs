using System.Buffers;
using System.Buffers.Binary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.LogFeed;

/// <summary>
/// Puts records into the log's open page. Knows what a record looks like and nothing about who sent it. Never waits: false means that
/// there is no room until a commit has freed some. On a secondary every append is a fault of ours (I10). Any thread.
/// </summary>
/// <param name="commit">Wakes whoever commits; true: nothing more is coming, so it may be done here and now.</param>
internal sealed class LogAppender(ReplicaLog replica, int pageRecordBytesMax, Action<bool> commit)
{
    public Lsn Durable => replica.Durable;

    /// <summary>The epoch in force.</summary>
    public Epoch Epoch => replica.Epoch;

    /// <summary>Wakes the committer if an append found it idle.</summary>
    public void WakeCommitter(bool drained)
    {
        if (TakeWake()) commit(drained);
    }

    /// <summary>Set when an append found the committer idle; the pump that appended wakes it.</summary>
    public bool TakeWake() => Interlocked.Exchange(ref _wakeOwed, 0) != 0;

    private int _wakeOwed;
    private volatile bool _refusesInputs, _refusesCallers, _isShut;

    /// <summary>
    /// Nothing is logged but the record of an upgrade, which converts the state behind all that is logged: whoever brings anything else is
    /// treated as if there were no room, and comes again.
    /// </summary>
    public bool IsShut => _isShut;

    /// <summary>Shuts the log's doors, or opens them. An append that has begun before goes through.</summary>
    public void Shut(bool isShut) => _isShut = isShut;

    /// <summary>
    /// No input from outside is logged any more, since the replica is about to end: who brings one is treated as if there were no room.
    /// What the app itself says, and what keeps the log in order, is logged as before.
    /// </summary>
    public bool RefusesInputs => _refusesInputs;

    /// <summary>Begins to refuse inputs, for good.</summary>
    public void RefuseInputs() => _refusesInputs = true;

    /// <summary>No message of a caller outside is logged any more; those that are logged are answered.</summary>
    public bool RefusesCallers => _refusesCallers || _refusesInputs;

    /// <summary>Begins to refuse what callers outside bring, for good.</summary>
    public void RefuseCallers() => _refusesCallers = true;

    /// <summary>
    /// Appends a run as it arrived, with the header that the log wants (step 7: reserve once, copy, leave).
    /// <paramref name="reserved"/> is told the record's end before it can become durable.
    /// </summary>
    public bool TryAppendRun(RecordKind kind, in RunHeader header, ReadOnlySpan<byte> afterHeader, Action<Lsn> reserved)
    {
        if (_isShut) return false;
        int body = RunHeader.Bytes + afterHeader.Length;
        Crash.Hit("log.beforeAppend");
        if (RecordHeader.Bytes + body > pageRecordBytesMax) return TryAppendSpanning(kind, header, afterHeader, reserved);
        LogWriter log = replica.Writer;
        if (!log.TryReserve(RecordHeader.Bytes + body, out Reservation room)) return false;
        Span<byte> to = room.Bytes;
        new RecordHeader((uint)body, kind).Write(to);
        header.Write(to[RecordHeader.Bytes..]);
        Crash.Hit("log.midAppend");
        afterHeader.CopyTo(to[(RecordHeader.Bytes + RunHeader.Bytes)..]);
        Finish(log, room, reserved);
        return true;
    }

    private bool TryAppendSpanning(RecordKind kind, in RunHeader header, ReadOnlySpan<byte> afterHeader, Action<Lsn> reserved)
    {
        Span<byte> head = stackalloc byte[RunHeader.Bytes];
        header.Write(head);
        if (!replica.Writer.TryAppendSpanning(kind, head, afterHeader, out _, out _, reserved)) return false;
        Interlocked.Exchange(ref _wakeOwed, 1);
        return true;
    }

    /// <summary>Appends a control record; false: no room now.</summary>
    public bool TryAppend<T>(T record, out Lsn end) where T : IRecordBody<T> => TryAppend(T.Kind, RecordKinds.Encode(record), out end);

    /// <summary>Appends a control record; all are small, except a digest of thousands of destinations.</summary>
    public bool TryAppend(RecordKind kind, ReadOnlySpan<byte> body, out Lsn end)
    {
        end = default;
        if (_isShut) return false;
        LogWriter log = replica.Writer;
        if (RecordHeader.Bytes + body.Length > pageRecordBytesMax)
        {
            if (!log.TryAppendSpanning(kind, [], body, out _, out end)) return false;
            Interlocked.Exchange(ref _wakeOwed, 1);
            return true;
        }
        if (!log.TryReserve(RecordHeader.Bytes + body.Length, out Reservation room)) return false;
        new RecordHeader((uint)body.Length, kind).Write(room.Bytes);
        body.CopyTo(room.Bytes[RecordHeader.Bytes..]);
        end = room.End;
        Finish(log, room, null);
        return true;
    }

    /// <inheritdoc cref="LogWriter.TryAppendAlone"/>
    public bool TryAppendAlone(Lsn at, RecordKind kind, ReadOnlySpan<byte> body)
    {
        if (_isShut) return false;
        Crash.Hit("log.beforeAppend");
        if (!replica.Writer.TryAppendAlone(at, kind, body)) return false;
        Interlocked.Exchange(ref _wakeOwed, 1);
        Crash.Hit("log.afterAppend");
        return true;
    }

    /// <inheritdoc cref="LogWriter.TryAppendVersion"/>
    public bool TryAppendVersion(Lsn at, RecordKind kind, ReadOnlySpan<byte> body, uint appVersion)
    {
        if (!replica.Writer.TryAppendVersion(at, kind, body, appVersion)) return false;
        Interlocked.Exchange(ref _wakeOwed, 1);
        return true;
    }

    /// <summary>Appends a record of a head and what stands behind it; <paramref name="reserved"/> as for a run.</summary>
    public bool TryAppend(RecordKind kind, ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest, Action<Lsn> reserved)
    {
        if (_isShut) return false;
        int body = head.Length + rest.Length;
        LogWriter log = replica.Writer;
        Crash.Hit("log.beforeAppend");
        if (RecordHeader.Bytes + body > pageRecordBytesMax)
        {
            if (!log.TryAppendSpanning(kind, head, rest, out _, out _, reserved)) return false;
            Interlocked.Exchange(ref _wakeOwed, 1);
            return true;
        }
        if (!log.TryReserve(RecordHeader.Bytes + body, out Reservation room)) return false;
        new RecordHeader((uint)body, kind).Write(room.Bytes);
        head.CopyTo(room.Bytes[RecordHeader.Bytes..]);
        rest.CopyTo(room.Bytes[(RecordHeader.Bytes + head.Length)..]);
        Finish(log, room, reserved);
        return true;
    }

    private void Finish(LogWriter log, in Reservation room, Action<Lsn>? reserved)
    {
        if (reserved is not null)
        {
            LockChecks.BeforeCallOut();
            reserved(room.End);
        }
        if (log.Leave(room)) Interlocked.Exchange(ref _wakeOwed, 1);
        Crash.Hit("log.afterAppend");
    }
}
