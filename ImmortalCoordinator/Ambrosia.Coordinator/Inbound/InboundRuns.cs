using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Step 6 of a call: runs that one peer sends. Drops what is logged already, cuts what reaches across, refuses gaps, gives the rest to
/// the log with one copy. Owns nothing but the way; the ledger has the numbers. The thread of the peer's connection.
/// </summary>
internal sealed class InboundRuns
{
    private readonly LogAppender log;
    private readonly InputLedger ledger;
    private readonly Origin origin;
    private readonly uint messageBytesMax;
    private readonly Action<Lsn> reserved;
    private RunHeader appending;

    public InboundRuns(LogAppender log, InputLedger ledger, Origin origin, uint messageBytesMax)
    {
        this.log = log;
        this.ledger = ledger;
        this.origin = origin;
        this.messageBytesMax = messageBytesMax;
        reserved = end => ledger.Appended(origin, appending, end);
    }

    /// <summary>False: no room in the log now; give the same run again later.</summary>
    /// <exception cref="ProtocolViolation">P3, P6.6.</exception>
    public bool TryTake(ReadOnlySpan<byte> bytes)
    {
        Crash.Hit("recv.afterRead");
        // what is malformed must not reach the log, where every replay would meet it
        RunView run = RunView.ReadWhole(bytes, messageBytesMax);
        Check(run);
        ulong next = ledger.AppendedOf(origin).Next(run.Header);
        if (run.Header.Last < next) return true;
        if (run.Header.First > next) throw new ProtocolViolation("P6.6", $"run begins at {run.Header.First} where {next} is next");
        return run.Header.First == next ? TryLog(run.Header, bytes[RunHeader.Bytes..]) : TryLogRest(run, (uint)(next - run.Header.First));
    }

    private void Check(in RunView run)
    {
        RunHeader header = run.Header;
        if (header.Peer != 0 || header.Shard != 0) throw new ProtocolViolation("P3", $"run on a link names peer {header.Peer}");
        if (header.Kind == MessageKind.Impulse && header.Hash != origin.Epoch.Value)
            throw new ProtocolViolation("P6.7", $"impulses of epoch {header.Hash} on a connection of epoch {origin.Epoch}");
        if (!header.IsNumbered && header.Kind != MessageKind.Impulse) throw new ProtocolViolation("P3.2", $"{header.Kind} on a link");
        if (header.First == 0) throw new ProtocolViolation("P3.8", "run begins at number 0");
    }

    private bool TryLog(in RunHeader header, ReadOnlySpan<byte> afterHeader)
    {
        appending = header with { Peer = origin.Id };
        RecordKind kind = header.Kind == MessageKind.Impulse ? RecordKind.ImpulseRun : RecordKind.Run;
        return log.TryAppendRun(kind, appending, afterHeader, reserved);
    }

    private bool TryLogRest(in RunView run, uint known)
    {
        int gone = Messages.Skip(run.Messages, known);
        RunHeader rest = run.Header with { First = run.Header.First + known, Count = run.Header.Count - known };
        return TryLog(rest, (byte[])[.. run.Extensions, .. run.Messages[gone..]]);
    }
}
