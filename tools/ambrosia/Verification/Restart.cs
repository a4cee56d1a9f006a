using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>What a coordinator that starts on this directory now would do.</summary>
/// <param name="Possible">False: it would halt with 65.</param>
/// <param name="Checkpoint">It begins with this one; null: with the log's first record.</param>
/// <param name="From">Lsn of the first page that it replays.</param>
/// <param name="Why">Where it would halt and why; null where it starts.</param>
internal sealed record Restart(bool Possible, string? Checkpoint, ulong From, string? Why)
{
    public static Restart Of(HeaderCheck headers, IReadOnlyList<CheckpointVerdict> checkpoints, HistoryCheck history)
    {
        CheckpointVerdict? newest = checkpoints.LastOrDefault(
            checkpoint => checkpoint.Header is { } header && history.From is { } from && header.PageLsn >= from);
        Lsn start = newest?.Header!.PageLsn ?? Lsn.Zero;
        Restart No(string why) => new(false, newest?.File, start.Value, why);

        if (headers.Damage.Count > 0) return No(headers.Damage[0].Message);
        if (history.Verdict is null && history.Losses is [var first, ..]) return No(DamageReport.Words(first.Why));
        if (newest is null && history.From is { } oldest && oldest > Lsn.Zero)
            return No($"the log begins at Lsn {oldest} and no sound checkpoint holds what came before");
        if (newest is null && history.From is null && checkpoints.Count > 0) return No("there are checkpoints and no log");
        // What lies below the checkpoint is not read again.
        Loss? inTheWay = history.Losses.FirstOrDefault(loss => loss.To > start.Value || loss.From >= start.Value);
        return inTheWay is null ? new Restart(true, newest?.File, start.Value, null) : No(DamageReport.Words(inTheWay.Why));
    }
}
