using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>A segment of the chain, by its header (log-format L3).</summary>
/// <param name="FirstLsn">Where it begins; the seal of its predecessor.</param>
/// <param name="EndLsn">Where it ends by its successor's seal; null: the last one, which still grows.</param>
/// <param name="Predecessor">Name of the segment before; null: the first of the log.</param>
/// <param name="PredecessorHash">Hash of the last page before the seal.</param>
/// <param name="WriteMode">"buffered" or "direct".</param>
/// <param name="FileBytes">Length of the file, zeros ahead of the tail included.</param>
internal sealed record SegmentRow(
    string File, ulong Number, ulong Epoch, ulong FirstLsn, ulong? EndLsn, string? Predecessor, string PredecessorHash, string WriteMode,
    uint AppVersion,
    string Created, long FileBytes)
{
    private const int WriteModeAt = 92;
    private const byte Direct = 2;

    /// <summary>Null: it was truncated since the chain was read.</summary>
    public static SegmentRow? Read(LogPlace place, LogSegment segment, LogSegment? next)
    {
        SegmentHeader header = segment.Header;
        try
        {
            using IFile file = place.Files.Open(segment.Path, FileUse.Read);
            Span<byte> mode = stackalloc byte[1];
            file.Read(mode, WriteModeAt);
            string? predecessor = header.PredecessorNumber == 0 ? null
                : new SegmentFileName(header.PredecessorNumber, header.PredecessorEpoch).ToString();
            return new SegmentRow(
                segment.Name.ToString(), header.Number, header.Epoch.Value, header.FirstLsn.Value, next?.FirstLsn.Value, predecessor,
                Wording.Hash(header.PredecessorHash), mode[0] == Direct ? "direct" : "buffered", header.AppVersion,
                Wording.Time(header.CreatedMicros), file.Length);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    /// <summary>A predecessor is the row above; the oldest's is gone, or there was none.</summary>
    public static TextTable Table(IEnumerable<SegmentRow> rows)
    {
        var table = new TextTable("segment", ">first Lsn", ">sealed at", ">log bytes", ">file", "writes", ">app", "created");
        foreach (SegmentRow row in rows)
        {
            table.Add(
                row.File, $"{row.FirstLsn}", row.EndLsn is { } end ? $"{end}" : "open",
                row.EndLsn is { } until ? Wording.Size((long)(until - row.FirstLsn)) : "",
                Wording.Size(row.FileBytes), row.WriteMode, $"{row.AppVersion}", row.Created);
        }
        return table;
    }
}
