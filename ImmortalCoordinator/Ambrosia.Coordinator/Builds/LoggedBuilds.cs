using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Builds;

/// <summary>Finds in a log which build of the app has executed it.</summary>
internal static class LoggedBuilds
{
    /// <summary>
    /// Finds the newest Build record: each epoch has one at its beginning, unless no app came, and perhaps before it some of an epoch
    /// before, in the tail that was logged again. Null: none is kept.
    /// </summary>
    /// <param name="below">Only records below this place count; null: all do.</param>
    public static BuildRecord? FindNewest(LogLocation log, LogChain chain, Lsn? below = null) =>
        chain.FindEpochBeginnings().Where(segment => below is null || segment.FirstLsn < below)
            .Select(segment => FindBehind(segment.FirstLsn, log, chain, below)).FirstOrDefault(static found => found is not null);

    /// <summary>
    /// Finds the build that executes what comes next, and its version: where an upgrade was made in the newest epoch, that one states it,
    /// and the Build record of that epoch is of the build before. Null: it is not known.
    /// </summary>
    public static (BuildId Build, uint Version)? FindInForce(LogLocation log, LogChain chain)
    {
        BuildRecord? last = FindNewest(log, chain);
        uint version = chain.NewestVersion(log.Files);
        BuildId? build = last?.Build;
        if (last?.AppVersion < version && chain.FirstAbove(log.Files, version - 1) is { } upgrade)
        {
            build = null;
            LoggedRecords.Read(log, chain, new ScanOptions { From = upgrade, EndsWithHead = true }, (_, kind, body, _, _) =>
            {
                if (kind == RecordKind.Upgrade) build = UpgradeRecord.Read(body).Build;
                return false;
            });
        }
        return build is { } known ? (known, version) : null;
    }

    /// <summary>Finds the last Build record in the beginning of an epoch, up to that of the epoch itself.</summary>
    private static BuildRecord? FindBehind(Lsn from, LogLocation log, LogChain chain, Lsn? below)
    {
        Epoch? epoch = null;
        BuildRecord? found = null;
        LoggedRecords.Read(log, chain, new ScanOptions { From = from, EndsWithHead = true }, (lsn, kind, body, _, at) =>
        {
            if (at != (epoch ??= at) || lsn >= below) return false;
            if (kind == RecordKind.Build) found = BuildRecord.Read(body);
            return found is null || found.Epoch != epoch;
        });
        return found;
    }
}
