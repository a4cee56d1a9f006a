using System.Globalization;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Simulation;

/// <summary>
/// What the log says of timers and tasks, read from the bytes on their way to the apps: of each task the first result, by its place, and of
/// each timer's record whether its page is older than its due time.
/// </summary>
internal sealed class TimersAndTasksOracle
{
    private readonly Dictionary<ulong, (Lsn Lsn, ulong Value)> _firstResults = [];
    private readonly HashSet<Lsn> _seen = [];

    /// <summary>Different records of tasks and of timers that were judged, and among them results of tasks that had one.</summary>
    public int Results { get; private set; }

    public int Repeated { get; private set; }

    public int Fired { get; private set; }

    /// <summary>The records of a whole Deliver frame; what is wrong about them.</summary>
    public string? Delivered(DeliverHeader header, ReadOnlySpan<byte> bytes)
    {
        var records = new RecordReader(bytes, header.First);
        while (records.Next())
        {
            if (records.Kind is not (RecordKind.NondetResult or RecordKind.TimerFired) || !_seen.Add(records.Lsn)) continue;
            if (records.Kind == RecordKind.NondetResult) Note(records.Lsn, records.Read<NondetResultRecord>());
            else if (TooEarly(header.TimeUs, records.Read<TimerFiredRecord>()) is { } wrong) return wrong;
        }
        return null;
    }

    /// <summary>What a task gave to the state is its first result in the log, and nothing else is in the state.</summary>
    public string? Judge(SortedDictionary<ulong, ulong> inState)
    {
        foreach ((ulong task, ulong value) in inState)
        {
            if (!_firstResults.TryGetValue(task, out (Lsn Lsn, ulong Value) first))
                return $"the state holds a result of task {task}, the log holds none";
            if ((first.Value >> 32, first.Value & uint.MaxValue) != (task, value))
                return $"task {task} gave {value} to the state, its first result in the log (at {first.Lsn}) is {first.Value & uint.MaxValue} of task {first.Value >> 32}";
        }
        return inState.Count == _firstResults.Count ? null
            : $"the log holds results of {_firstResults.Count} tasks, the state those of {inState.Count}";
    }

    private void Note(Lsn lsn, NondetResultRecord record)
    {
        Results++;
        if (_firstResults.TryGetValue(record.Task, out (Lsn Lsn, ulong) before))
        {
            Repeated++;
            if (before.Lsn < lsn) return;
        }
        _firstResults[record.Task] = (lsn, ValueOf(record));
    }

    private static ulong ValueOf(NondetResultRecord record)
    {
        var from = new CborReader(record.Result.Span);
        if (!record.Failed) return from.ReadUInt64();
        string message = FailureInfo.Read(ref from).Message;
        return ulong.Parse(message.AsSpan(0, message.IndexOf('+', StringComparison.Ordinal)), CultureInfo.InvariantCulture);
    }

    private string? TooEarly(long pageTimeUs, TimerFiredRecord record)
    {
        Fired++;
        return pageTimeUs >= record.DueUs ? null
            : $"timer {record.Timer} is due at {record.DueUs} µs and fires in a page of {pageTimeUs} µs";
    }
}
