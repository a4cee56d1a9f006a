using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Builds;

/// <summary>
/// Counts what the log's inputs behind a checkpoint have an app execute: which handlers they call, and what they resume without naming it.
/// It remembers the methods that it is told of and no others, so that no log makes it large.
/// </summary>
internal sealed class RecordedCalls
{
    private readonly Dictionary<uint, long> _byMethod;

    private RecordedCalls(IEnumerable<uint> methods) => _byMethod = methods.Distinct().ToDictionary(static id => id, static _ => 0L);

    /// <summary>So many messages, and records of other kinds, are to be executed.</summary>
    public long Inputs { get; private set; }

    /// <summary>The log's first start is among them.</summary>
    public bool HasFirstStart { get; private set; }

    /// <summary>Answers, timers and results of tasks.</summary>
    public long Resumed { get; private set; }

    /// <summary>Retries of messages that were set aside: which handlers they call stands in the state alone.</summary>
    public long Unnamed { get; private set; }

    /// <summary>Returns how many messages call a method.</summary>
    public long this[uint method] => _byMethod.GetValueOrDefault(method);

    /// <summary>Reads what a session that begins with a checkpoint is going to execute, whether it is stated as durable or not.</summary>
    /// <param name="checkpoint">Null: the session begins with the log.</param>
    /// <param name="methods">Those whose calls are counted each by itself.</param>
    /// <param name="below">Only records below this place count; null: all do.</param>
    public static RecordedCalls Read(
        LogLocation log, LogChain chain, CheckpointHeader? checkpoint, IEnumerable<uint> methods, Lsn? below = null)
    {
        var calls = new RecordedCalls(methods);
        Lsn from = checkpoint?.Lsn ?? Lsn.Zero;
        var options = new ScanOptions { From = checkpoint?.PageLsn, PreviousHash = checkpoint?.PreviousHash, EndsWithHead = true };
        LoggedRecords.Read(log, chain, options, (lsn, kind, body, _, _) =>
        {
            if (lsn >= below) return false;
            if (lsn >= from) calls.Count(kind, body);
            return true;
        });
        return calls;
    }

    private void Count(RecordKind kind, ReadOnlySpan<byte> body)
    {
        switch (kind)
        {
            case RecordKind.Run or RecordKind.ImpulseRun:
                RunView run = RunView.Read(body);
                if (run.Header.Kind is MessageKind.Result or MessageKind.Failure) Resumes(run.Header.Count);
                else CountCalls(new MessageReader(run));
                break;
            case RecordKind.ClientRequest:
                var request = ClientRequestView.Read(body);
                CountCalls(new MessageReader(request.Message, MessageKind.ClientRequest, request.Keyed));
                break;
            case RecordKind.NondetResult or RecordKind.TimerFired or RecordKind.Forget: Resumes(1); break;
            case RecordKind.FirstStart: (HasFirstStart, Inputs) = (true, Inputs + 1); break;
            case RecordKind.Quarantine when QuarantineRecord.Read(body).Action == QuarantineAction.Retry:
                (Unnamed, Inputs) = (Unnamed + 1, Inputs + 1); break;
        }
    }

    private void Resumes(uint count) => (Resumed, Inputs) = (Resumed + count, Inputs + count);

    private void CountCalls(MessageReader messages)
    {
        while (messages.Next())
        {
            Inputs++;
            if (_byMethod.TryGetValue(messages.Method, out long calls)) _byMethod[messages.Method] = calls + 1;
        }
    }
}

/// <summary>Reads the records of a log for who wants to know what is recorded before anything is delivered.</summary>
internal static class LoggedRecords
{
    /// <summary>
    /// Gives each whole record to a handler until it wants no more, or to the log's end. Damage ends it early: it is found and told by
    /// whoever delivers the log.
    /// </summary>
    public static void Read(LogLocation log, LogChain chain, ScanOptions options, RecordAssembler.RecordHandler handle)
    {
        var records = new RecordAssembler();
        using LogScan scan = LogScan.Open(log.Files, log.Directory, log.Identity, chain, options);
        try
        {
            while (scan.Next() && records.Take(scan.Page, handle)) { }
        }
        catch (ProtocolViolation)
        {
            // A record that breaks the format is damage like other damage.
        }
    }
}
