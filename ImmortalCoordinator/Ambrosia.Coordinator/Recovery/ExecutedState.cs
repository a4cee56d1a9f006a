using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The fold of the log at the exact record where the app stands: from a delivered mark, the few pages behind it are read again.
/// </summary>
internal static class ExecutedState
{
    /// <param name="page">The last page that the app has executed records of.</param>
    /// <param name="previousHash">Hash of the page before that one.</param>
    /// <returns>Null: the log there is truncated.</returns>
    /// <exception cref="LogDamage">A durable page is not there.</exception>
    public static DeliveredState? At(LogReader reader, MarkNote mark, Lsn page, Lsn lsn, out ulong previousHash)
    {
        DeliveredState state = mark.State.Clone();
        var buffer = new PageBuffer();
        previousHash = 0;
        for (Lsn at = mark.PageLsn; at <= page; at = buffer.Next)
        {
            ReadStatus status = reader.Read(at, ref buffer);
            if (status == ReadStatus.Gone) return null;
            if (status != ReadStatus.Page) throw reader.Missing(at);
            previousHash = buffer.PreviousHash;
            if (buffer.Flags.HasFlag(PageFlags.ContinuesSpanning)) continue;
            PageFold.Fold(state, buffer.Records, buffer.RecordsLsn, buffer.Remaining, mark.End, lsn);
        }
        return state;
    }
}
