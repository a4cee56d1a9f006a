using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Inbox;

/// <summary>
/// Step 6 of a call: it takes the runs that one peer sends, drops what is logged already, cuts what reaches across, refuses gaps, and
/// gives the rest to the log with one copy. The numbers are the <see cref="DedupTable"/>'s; it owns only whether the connection's calls
/// were held against those before it. It is used by the in thread of the peer's connection.
/// </summary>
internal sealed class InboundRuns
{
    private readonly LogAppender _log;
    private readonly DedupTable _dedup;
    private readonly InboundChannel _origin;
    private readonly uint _messageBytesMax;
    private readonly Action<Lsn> _reserved;
    private RunHeader _appending;

    /// <summary>
    /// The first calls of this connection that were new follow what was logged before. The hello speaks of durable calls alone, so a sender
    /// that has made other calls than those in flight is found here, or never.
    /// </summary>
    private bool _isContinued;

    public InboundRuns(LogAppender log, DedupTable dedup, InboundChannel origin, uint messageBytesMax)
    {
        _log = log;
        _dedup = dedup;
        _origin = origin;
        _messageBytesMax = messageBytesMax;
        _reserved = end => dedup.Appended(origin, _appending, end);
    }

    /// <summary>Logs what is new of a run; false: the log has no room now, and the same run comes again.</summary>
    /// <param name="isAgain">There was no room for the same run before: what it holds was checked then.</param>
    /// <exception cref="ProtocolViolation">P3, P6.6.</exception>
    public bool TryTake(ReadOnlySpan<byte> bytes, bool isAgain = false)
    {
        Crash.Hit("recv.afterRead");
        // what is malformed must not reach the log, where every replay would meet it
        RunView run = isAgain ? RunView.Read(bytes) : RunView.ReadWhole(bytes, _messageBytesMax);
        Check(run);
        InputPosition appended = _dedup.AppendedOf(_origin);
        ulong next = appended.Next(run.Header);
        if (run.Header.Last < next)
        {
            if (run.Header.IsNumbered && run.Header.Last == appended.Number && run.Header.Hash != appended.Hash) throw OtherCalls(appended);
            return true;
        }
        if (run.Header.First > next) throw new ProtocolViolation("P6.6", $"run begins at {run.Header.First} where {next} is next");
        uint known = (uint)(next - run.Header.First);
        int gone = MessageScanner.Skip(run.Messages, known);
        if (!_isContinued && !isAgain && run.Header.IsNumbered) CheckContinues(run.Header, run.Messages[gone..], appended);
        bool isLogged = known == 0 ? TryLog(run.Header, bytes[RunHeader.Bytes..]) : TryLogRest(run, gone, known);
        _isContinued |= isLogged && run.Header.IsNumbered;
        return isLogged;
    }

    /// <summary>
    /// The kind of the last call that is logged is not known behind a restart, and goes into the hash where it changes: either will do.
    /// </summary>
    private static void CheckContinues(in RunHeader header, ReadOnlySpan<byte> messages, InputPosition appended)
    {
        foreach (MessageKind before in (ReadOnlySpan<MessageKind>)[header.Kind, default])
        {
            if (appended.Number == 0 && before != default) continue;
            var hasher = new ChannelHasher(appended.Hash, before);
            hasher.Append(header.Kind, messages);
            if (hasher.Hash == header.Hash) return;
        }
        throw OtherCalls(appended);
    }

    private static ProtocolViolation OtherCalls(InputPosition appended) =>
        new("P6.6", $"the calls do not follow the {appended.Number} that are logged: their sender has made others than before");

    private void Check(in RunView run)
    {
        RunHeader header = run.Header;
        if (header.Peer != 0 || header.Shard != 0) throw new ProtocolViolation("P3", $"run on a link names peer {header.Peer}");
        if (header.Kind == MessageKind.Impulse && header.Hash != _origin.Epoch.Value)
            throw new ProtocolViolation("P6.7", $"impulses of epoch {header.Hash} on a connection of epoch {_origin.Epoch}");
        if (!header.IsNumbered && header.Kind != MessageKind.Impulse) throw new ProtocolViolation("P3.2", $"{header.Kind} on a link");
        if (header.First == 0) throw new ProtocolViolation("P3.8", "run begins at number 0");
    }

    private bool TryLog(in RunHeader header, ReadOnlySpan<byte> afterHeader)
    {
        if (_log.RefusesInputs && _origin.Id != 0) return false;
        _appending = header with { Peer = _origin.Id };
        RecordKind kind = header.Kind == MessageKind.Impulse ? RecordKind.ImpulseRun : RecordKind.Run;
        return _log.TryAppendRun(kind, _appending, afterHeader, _reserved);
    }

    private bool TryLogRest(in RunView run, int gone, uint known)
    {
        RunHeader rest = run.Header.CutFirst(known);
        return TryLog(rest, (byte[])[.. run.Extensions, .. run.Messages[gone..]]);
    }
}
