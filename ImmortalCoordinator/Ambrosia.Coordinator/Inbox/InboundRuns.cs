using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Inbox;

/// <summary>
/// Step 6 of a call: it takes the runs that one peer sends, drops what is logged already, cuts what reaches across, refuses gaps, and
/// gives the rest to the log with one copy. It owns nothing: the numbers are the <see cref="DedupTable"/>'s. It is used by the in thread of
/// the peer's connection.
/// </summary>
internal sealed class InboundRuns
{
    private readonly LogAppender _log;
    private readonly DedupTable _dedup;
    private readonly InboundChannel _origin;
    private readonly uint _messageBytesMax;
    private readonly Action<Lsn> _reserved;
    private RunHeader _appending;

    public InboundRuns(LogAppender log, DedupTable dedup, InboundChannel origin, uint messageBytesMax)
    {
        _log = log;
        _dedup = dedup;
        _origin = origin;
        _messageBytesMax = messageBytesMax;
        _reserved = end => dedup.Appended(origin, _appending, end);
    }

    /// <summary>Logs what is new of a run; false: the log has no room now, and the same run comes again.</summary>
    /// <exception cref="ProtocolViolation">P3, P6.6.</exception>
    public bool TryTake(ReadOnlySpan<byte> bytes)
    {
        Crash.Hit("recv.afterRead");
        // what is malformed must not reach the log, where every replay would meet it
        RunView run = RunView.ReadWhole(bytes, _messageBytesMax);
        Check(run);
        ulong next = _dedup.AppendedOf(_origin).Next(run.Header);
        if (run.Header.Last < next) return true;
        if (run.Header.First > next) throw new ProtocolViolation("P6.6", $"run begins at {run.Header.First} where {next} is next");
        return run.Header.First == next ? TryLog(run.Header, bytes[RunHeader.Bytes..]) : TryLogRest(run, (uint)(next - run.Header.First));
    }

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
        _appending = header with { Peer = _origin.Id };
        RecordKind kind = header.Kind == MessageKind.Impulse ? RecordKind.ImpulseRun : RecordKind.Run;
        return _log.TryAppendRun(kind, _appending, afterHeader, _reserved);
    }

    private bool TryLogRest(in RunView run, uint known)
    {
        int gone = MessageScanner.Skip(run.Messages, known);
        RunHeader rest = run.Header.CutFirst(known);
        return TryLog(rest, (byte[])[.. run.Extensions, .. run.Messages[gone..]]);
    }
}
