using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Inspection.Texts;

namespace Ambrosia.Inspection.Records;

/// <summary>
/// Turns records into entries: one for each message of a run that the filter wants, and one for each record of another kind. A record that
/// cannot be decoded becomes an entry with its problem, and is counted; the CRC of the page says that the records behind it are whole.
/// </summary>
internal sealed class EntryReader(OriginNames names, MessageFormatter text, EntryFilter filter)
{
    /// <summary>The number of records and messages that could not be decoded.</summary>
    public long Problems { get; private set; }

    /// <summary>Reads one whole record.</summary>
    /// <param name="emit">Gets each entry; false: no more are wanted.</param>
    /// <returns>False: no more are wanted.</returns>
    public bool Read(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch, Func<LogEntry, bool> emit)
    {
        if (kind == RecordKind.Peer && TryPeer(body) is { } peer) names.Add(peer); // even where the filter drops it: later records name it
        if (filter.IsBehind(lsn, timeMicros)) return false;
        if (!filter.Fits(lsn, timeMicros)) return true;
        var entry = new LogEntry(lsn.Value, TextFormat.Time(timeMicros), epoch.Value, LogEntry.NameOf(kind)) { TimeMicros = timeMicros };
        try
        {
            if (kind is RecordKind.Run or RecordKind.ImpulseRun) return ReadRun(entry, RunView.Read(body), emit);
            if (kind == RecordKind.ClientRequest) return ReadRequest(entry, ClientRequestView.Read(body), emit);
            if (filter.IsOfMessages || !filter.FitsKind(entry.Kind)) return true;
            return emit(entry with { Fields = RecordFields.Of(kind, body, names) });
        }
        catch (ProtocolViolation violation)
        {
            return EmitProblem(entry, violation, emit);
        }
    }

    private static PeerRecord? TryPeer(ReadOnlySpan<byte> body)
    {
        try
        {
            return PeerRecord.Read(body);
        }
        catch (ProtocolViolation)
        {
            return null; // reported where its entry is made
        }
    }

    private bool ReadRun(LogEntry record, RunView run, Func<LogEntry, bool> emit)
    {
        RunHeader header = run.Header;
        string from = names[header.Peer], kind = LogEntry.NameOf(header.Kind);
        if (!filter.FitsSender(from) || !filter.FitsKind(kind)) return true;
        var common = record with
        {
            Kind = kind, From = from, SenderEpoch = header.Kind == MessageKind.Impulse ? header.Hash : null,
            Cause = EntryCause.Of(RunCause.In(run.Extensions)),
        };
        Dictionary<ulong, MessageTrace> traces = MessageTrace.In(run.Extensions).ToDictionary(trace => header.Last - trace.FromEnd);
        var messages = new MessageReader(run);
        for (uint index = 0; messages.Next(); index++)
        {
            if (!filter.FitsIndex(index) || !filter.FitsMessage(messages.Method, messages.CallId)) continue;
            ulong number = header.First + index;
            string? trace = traces.TryGetValue(number, out MessageTrace found) ? found.ToString() : null;
            if (!EmitMessage(common with { Index = index, Number = number, Trace = trace }, header, messages, emit)) return false;
        }
        return true;
    }

    /// <summary>Reads a request of a caller outside, or its impulse, which has no number.</summary>
    private bool ReadRequest(LogEntry record, ClientRequestView request, Func<LogEntry, bool> emit)
    {
        string from = $"caller {request.Session}";
        MessageReader message = request.ReadMessage();
        if (!filter.FitsSender(from) || !filter.FitsKind(record.Kind) || !filter.FitsMessage(message.Method, message.CallId)) return true;
        var header = new RunHeader(MessageKind.ClientRequest, request.Keyed, 0, 0, request.Request, 1, 0, 0);
        return EmitMessage(record with { From = from, Number = request.Request == 0 ? null : request.Request }, header, message, emit);
    }

    private bool EmitMessage(LogEntry entry, RunHeader header, MessageReader message, Func<LogEntry, bool> emit)
    {
        entry = entry with
        {
            Method = text.MethodOf(message.Method),
            Call = header.Kind is MessageKind.Call or MessageKind.Result or MessageKind.Failure ? message.CallId : null,
            Key = header.Keyed ? text.Key(message.Key) : null,
        };
        try
        {
            return emit(header.Kind switch
            {
                MessageKind.Result => entry with { Value = text.Value(message.Method, message.Arguments) },
                MessageKind.Failure => entry with { Failure = FailureOf(message.Arguments) },
                _ => entry with { Arguments = text.Arguments(message.Method, message.Arguments) },
            });
        }
        catch (CborException malformed)
        {
            return EmitProblem(entry, malformed, emit);
        }
    }

    private static EntryFailure FailureOf(ReadOnlySpan<byte> bytes)
    {
        var from = new CborReader(bytes, lenient: true);
        return EntryFailure.Of(FailureInfo.Read(ref from));
    }

    private bool EmitProblem(LogEntry entry, Exception problem, Func<LogEntry, bool> emit)
    {
        Problems++;
        return emit(entry with { Problem = problem.Message });
    }
}

/// <summary>Decides which records and messages are wanted. A limit that is null does not hold.</summary>
/// <param name="From">The first position that is wanted.</param>
/// <param name="To">The first position that is no longer wanted.</param>
/// <param name="SinceMicros">The earliest page time, in µs since 1970, inclusive.</param>
/// <param name="UntilMicros">The latest page time, in µs since 1970, inclusive.</param>
/// <param name="Sender">The name of an instance.</param>
/// <param name="Methods">The ids of methods.</param>
/// <param name="Index">The index of a message in its run.</param>
internal sealed record EntryFilter(
    Lsn From, Lsn? To, long? SinceMicros, long? UntilMicros, string? Sender = null, IReadOnlySet<uint>? Methods = null, ulong? Call = null,
    string? Kind = null, uint? Index = null)
{
    /// <summary>True if only messages can fit.</summary>
    public bool IsOfMessages => Sender is not null || Methods is not null || Call is not null;

    /// <summary>True if nothing from here on is wanted: positions and times never decrease along a log.</summary>
    public bool IsBehind(Lsn lsn, long timeMicros) => lsn >= To || timeMicros > UntilMicros;

    public bool Fits(Lsn lsn, long timeMicros) => lsn >= From && !(timeMicros < SinceMicros) && !IsBehind(lsn, timeMicros);

    public bool FitsKind(string kind) => Kind is null || Kind.Equals(kind, StringComparison.OrdinalIgnoreCase);

    public bool FitsIndex(uint index) => Index is null || Index == index;

    public bool FitsSender(string sender) => Sender is null || Sender == sender;

    public bool FitsMessage(uint method, ulong call) => Methods?.Contains(method) != false && (Call is null || Call == call);
}
