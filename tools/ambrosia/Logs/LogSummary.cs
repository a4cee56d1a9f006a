using System.Text.Json.Serialization;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// A log on one screen: whose it is, its chain, its checkpoints, its other files. Of the pages only those since the last seal
/// are read, to find the end.
/// </summary>
/// <param name="Epoch">In force now; null: the fence is not there.</param>
/// <param name="End">Null: damage hides it.</param>
/// <param name="Damage">A damaged header, or what is damaged since the last seal; null: nothing. 'ambrosia verify'
/// reads the rest too.</param>
/// <param name="Outside">Files of the log's names that are no part of its chain.</param>
internal sealed record LogSummary(
    string Directory, string Instance, int Shard, Guid Uuid, string Created, ulong? Epoch,
    IReadOnlyList<SegmentRow> Segments, IReadOnlyList<CheckpointRow> Checkpoints, IReadOnlyList<string> Outside,
    EndReport.Place? End, DamageReport.Place? Damage) : IReport
{
    [JsonIgnore]
    public bool HasDamage => Damage is not null || Epoch is null || Checkpoints.Any(static row => row.Damage is not null);

    /// <param name="unusable">Headers of segments that <paramref name="place"/> hides.</param>
    /// <exception cref="LogDamage">The others contradict one another.</exception>
    public static LogSummary Read(LogPlace place, IReadOnlyList<LogDamage> unusable)
    {
        LogChain chain = LogChain.Load(place.Files, place.Directory, place.Identity);
        LogSegment[] segments = [.. chain.Segments];
        var rows = new List<SegmentRow>(segments.Length);
        for (int i = 0; i < segments.Length; i++)
            if (SegmentRow.Read(place, segments[i], i < segments.Length - 1 ? segments[i + 1] : null) is { } row) rows.Add(row);
        CheckpointRow[] checkpoints = [
            .. Ambrosia.Log.Checkpoints.List(place.Files, place.Directory).Reverse().Select(name => CheckpointRow.Read(place, name))
                .OfType<CheckpointRow>()];
        HashSet<string> inside = [.. segments.Select(static segment => segment.Name.ToString())];
        string[] outside = [
            .. place.Files.List(place.Directory).Where(name => SegmentFileName.TryParse(name) is not null && !inside.Contains(name))];
        InstanceIdentity identity = place.Identity;
        ReadVerdict verdict = unusable is [var header, ..] ? new ReadVerdict.Halt(Lsn.Zero, header, Lsn.Zero) : EndOf(place, chain);
        return new LogSummary(
            place.Directory, identity.Name, identity.Shard, identity.Uuid, Wording.Time(identity.CreatedMicros), EpochOf(place), rows,
            checkpoints, outside,
            verdict is ReadVerdict.Whole or ReadVerdict.Cut ? EndReport.Of(verdict).End : null,
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
        if (End is not null && Segments.Count > 0) new EndReport(End).Draw(screen);
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

    /// <summary>Reads what stands behind the last seal.</summary>
    private static ReadVerdict EndOf(LogPlace place, LogChain chain)
    {
        Lsn? from = chain.Segments.IsEmpty ? null : chain.Segments[^1].FirstLsn;
        using LogScan scan = LogScan.Open(place.Files, place.Directory, place.Identity, chain,
            new ScanOptions { From = from, EndsWithHead = true });
        while (scan.Next()) { }
        return scan.Verdict!;
    }

    private static ulong? EpochOf(LogPlace place)
    {
        try
        {
            return Fence.Current(place.Files, place.Directory, place.Identity).Value;
        }
        catch (LogDamage)
        {
            return null;
        }
    }
}
