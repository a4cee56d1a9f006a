using System.Globalization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Records;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Listing;

/// <summary>
/// Says in a few words what a record of a log is, for reports about it: its kind, and of messages the method and who sent them.
/// </summary>
internal static class RecordName
{
    private const int BytesShown = 64;

    /// <summary>Names a message of the first record at this place or behind it; null where that cannot be read.</summary>
    /// <param name="index">The message's index in the record.</param>
    public static string? At(string directory, ulong lsn, ulong index)
    {
        try
        {
            return Find(LogDirectory.Open(directory), new Lsn(lsn), index) is { } entry ? Of(entry) : null;
        }
        catch (Exception e) when (e is MisuseException or LogDamage or ProtocolViolation or IOException or UnauthorizedAccessException)
        {
            return null; // the report is about something else
        }
    }

    private static LogEntry? Find(LogDirectory log, Lsn from, ulong index)
    {
        LogEntry? found = null;
        var names = new OriginNames(log.Identity);
        var text = new MessageFormatter(ContractManifests.Load([]), BytesShown);
        var reader = new EntryReader(names, text, new EntryFilter(from, null, null, null));
        var records = new RecordAssembler();
        bool Keep(LogEntry entry)
        {
            if (found is not null && entry.Lsn != found.Lsn) return false;
            found = entry;
            return index-- > 0;
        }
        WalkStart start = WalkStart.For(log.Location, LogChain.Load(log.Files, log.Path, log.Identity, takesAnyLength: true), from, names);
        new LogWalk(log).Run(start,
            (page, _) => records.Take(page,
                (lsn, kind, body, time, epoch) => reader.Read(lsn, kind, body, time, epoch, Keep)), static _ => { });
        return found;
    }

    private static string Of(LogEntry entry)
    {
        string method = entry.Method is { } called ? string.Create(CultureInfo.InvariantCulture, $" of {called}") : "";
        return entry.From is { } from ? $"{entry.Kind}{method} from {from}" : entry.Kind;
    }
}
