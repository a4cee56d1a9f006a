using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// The fold of the log at the exact record where the app stands: from a delivered mark, the few pages behind it are read again.
/// </summary>
internal static class StateAtPosition
{
    /// <param name="page">The last page that the app has executed records of.</param>
    /// <param name="previousHash">Hash of the page before that one.</param>
    /// <returns>Null: the log there is truncated.</returns>
    /// <exception cref="LogDamage">A durable page is not there.</exception>
    public static ReplayState? At(LogReader reader, MarkSnapshot mark, Lsn page, Lsn lsn, out ulong previousHash)
    {
        ReplayState state = mark.State.Clone();
        var buffer = new PageBuffer();
        previousHash = 0;
        for (Lsn at = mark.PageLsn; at <= page; at = buffer.Next)
        {
            ReadStatus status = reader.Read(at, ref buffer);
            if (status == ReadStatus.Truncated) return null;
            if (status != ReadStatus.Page) throw reader.MissingPage(at);
            previousHash = buffer.PreviousHash;
            if (buffer.Flags.HasFlag(PageFlags.ContinuesSpanning)) continue;
            PageFold.Fold(state, buffer.Records, buffer.RecordsLsn, buffer.Remaining, mark.End, lsn);
        }
        return state;
    }
}
