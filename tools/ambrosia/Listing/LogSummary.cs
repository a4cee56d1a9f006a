using System.Text.Json.Serialization;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Listing;

/// <summary>
/// Shows a log on one screen: its instance, its chain, its checkpoints, its other files. Only the pages since the last seal are read, to
/// find the end.
/// </summary>
/// <param name="Epoch">The epoch that is in force now, or null where there is no fence.</param>
/// <param name="End">The end of the log, or null where damage hides it.</param>
/// <param name="Damage">A damaged header, or damage since the last seal, or null. 'ambrosia verify' reads the rest too.</param>
/// <param name="Outside">The files that are named like segments and are no part of the chain.</param>
internal sealed record LogSummary(
    string Directory, string Instance, int Shard, Guid Uuid, string Created, ulong? Epoch,
    IReadOnlyList<SegmentRow> Segments, IReadOnlyList<CheckpointRow> Checkpoints, IReadOnlyList<string> Outside,
    LogEndReport.Position? End, DamageReport.Details? Damage) : IReport
{
    [JsonIgnore]
    public bool HasDamage => Damage is not null || Epoch is null || Checkpoints.Any(static row => row.Damage is not null);

    /// <summary>Reads the summary.</summary>
    /// <param name="unusable">The damaged headers of the segments that <paramref name="log"/> hides.</param>
    /// <exception cref="LogDamage">The other headers contradict one another.</exception>
    public static LogSummary Read(LogDirectory log, IReadOnlyList<LogDamage> unusable)
    {
        LogChain chain = LogChain.Load(log.Files, log.Path, log.Identity, takesAnyLength: true);
        LogSegment[] segments = [.. chain.Segments];
        var rows = new List<SegmentRow>(segments.Length);
        for (int i = 0; i < segments.Length; i++)
            if (SegmentRow.Read(log, segments[i], i < segments.Length - 1 ? segments[i + 1] : null) is { } row) rows.Add(row);
        CheckpointRow[] checkpoints = [
            .. CheckpointDirectory.List(log.Files, log.Path).Reverse().Select(name => CheckpointRow.Read(log, name))
                .OfType<CheckpointRow>()];
        HashSet<string> inside = [.. segments.Select(static segment => segment.Name.ToString())];
        string[] outside = [
            .. log.Files.List(log.Path).Where(name => SegmentFileName.TryParse(name) is not null && !inside.Contains(name))];
        InstanceIdentity identity = log.Identity;
        ReadVerdict verdict = unusable is [var header, ..] ? new ReadVerdict.Halt(Lsn.Zero, header, Lsn.Zero) : EndOf(log, chain);
        return new LogSummary(
            log.Path, identity.Name, identity.Shard, identity.Uuid, TextFormat.Time(identity.CreatedMicros), EpochOf(log), rows,
            checkpoints, outside,
            verdict is ReadVerdict.CleanEnd or ReadVerdict.TornTail ? LogEndReport.Of(verdict).End : null,
            verdict is ReadVerdict.Halt halt ? DamageReport.Of(halt.Damage).Damage : null);
    }

    public void Draw(Screen screen)
    {
        screen.Line(
            $"{Instance}{(Shard == 0 ? "" : $"/{Shard}")}  {Uuid}  created {Created}  epoch {(Epoch is { } epoch ? epoch : "unknown: the fence is missing")}",
            Tone.Heading);
        screen.Line(Directory);
        screen.Line();
        if (Segments.Count > 0) screen.Table(SegmentRow.Table(Segments));
        else if (Damage is null) screen.Line("no segments: the instance was created and never started");
        if (Segments.Count > 0 && Segments[0].Predecessor is { } truncated)
            screen.Line($"what stood before {Segments[0].File}, up to the end of {truncated}, was truncated");
        if (End is not null && Segments.Count > 0) new LogEndReport(End).Draw(screen);
        if (Damage is not null)
        {
            new DamageReport(Damage).Draw(screen);
            screen.Line("a coordinator halts there (exit 65); 'ambrosia verify' says what is lost and what is not", Tone.Bad);
        }
        screen.Line();
        if (Checkpoints.Count == 0) screen.Line("no checkpoints");
        else screen.Table(CheckpointRow.Table(Checkpoints));
        if (Outside.Count == 0) return;
        screen.Line();
        screen.Line($"not in the chain, ignored: {string.Join(", ", Outside)}", Tone.Warning);
    }

    /// <summary>Finds the end of the log: reads what stands behind the last seal.</summary>
    private static ReadVerdict EndOf(LogDirectory log, LogChain chain)
    {
        Lsn? from = chain.Segments.IsEmpty ? null : chain.Segments[^1].FirstLsn;
        using LogScan scan = LogScan.Open(log.Files, log.Path, log.Identity, chain,
            new ScanOptions { From = from, EndsWithHead = true });
        while (scan.Next()) { }
        return scan.Verdict!;
    }

    private static ulong? EpochOf(LogDirectory log)
    {
        try
        {
            return Fence.Current(log.Files, log.Path, log.Identity).Value;
        }
        catch (LogDamage)
        {
            return null;
        }
    }
}

/// <summary>It describes a segment of the chain as its header does (log-format L3).</summary>
/// <param name="FirstLsn">The position at which it begins, which is the seal of its predecessor.</param>
/// <param name="EndLsn">The position at which its successor has sealed it, or null for the last one, which still grows.</param>
/// <param name="Predecessor">The name of the segment before it, or null for the first of the log.</param>
/// <param name="PredecessorHash">The hash of the last page before the seal.</param>
/// <param name="WriteMode">"buffered" or "direct".</param>
/// <param name="FileBytes">The bytes of disk that the file takes, those ahead of the tail included. Its length is more: it has that from
/// its beginning.</param>
internal sealed record SegmentRow(
    string File, ulong Number, ulong Epoch, ulong FirstLsn, ulong? EndLsn, string? Predecessor, string PredecessorHash, string WriteMode,
    uint AppVersion,
    string Created, long FileBytes)
{
    private const int WriteModeAt = 92;
    private const byte Direct = 2;

    /// <summary>Reads a segment's header; returns null where the segment was truncated since the chain was read.</summary>
    public static SegmentRow? Read(LogDirectory log, LogSegment segment, LogSegment? next)
    {
        SegmentHeader header = segment.Header;
        try
        {
            using IFile file = log.Files.Open(segment.Path, FileUse.Read);
            Span<byte> mode = stackalloc byte[1];
            file.Read(mode, WriteModeAt);
            string? predecessor = header.PredecessorNumber == 0 ? null
                : new SegmentFileName(header.PredecessorNumber, header.PredecessorEpoch).ToString();
            return new SegmentRow(
                segment.Name.ToString(), header.Number, header.Epoch.Value, header.FirstLsn.Value, next?.FirstLsn.Value, predecessor,
                TextFormat.Hash(header.PredecessorHash), mode[0] == Direct ? "direct" : "buffered", header.AppVersion,
                TextFormat.Time(header.CreatedMicros), file.BytesTaken);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    /// <summary>
    /// Makes the table of segments. It does not show predecessors: each is the row above, and the oldest one's is gone or never was.
    /// </summary>
    public static TextTable Table(IEnumerable<SegmentRow> rows)
    {
        var table = new TextTable("segment", ">first Lsn", ">sealed at", ">log bytes", ">file", "writes", ">app", "created");
        foreach (SegmentRow row in rows)
        {
            table.Add(
                row.File, $"{row.FirstLsn}", row.EndLsn is { } end ? $"{end}" : "open",
                row.EndLsn is { } until ? TextFormat.Size((long)(until - row.FirstLsn)) : "",
                TextFormat.Size(row.FileBytes), row.WriteMode, $"{row.AppVersion}", row.Created);
        }
        return table;
    }
}
