using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Upgrades;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Tries an upgrade on a log that is only read: everything but the claim. The state at the log's end is converted as the rehearsal of a
/// live upgrade does, and then the new version executes the inputs that are recorded behind a checkpoint, beside the old one, and is held
/// against it. One thread.
/// </summary>
internal sealed class UpgradeTrial : IDisposable
{
    private readonly UpgradeTrialOptions _options;
    private readonly IFileSystem _files;
    private readonly Action<string> _tell;
    private readonly TriedUpgrade _upgrade;
    private readonly ReplaySession _replay;

    /// <param name="tell">Hears what is to be known beside the report: lines. Any thread calls it.</param>
    /// <exception cref="MisuseException">There is no such log or place, or the version is none that comes next.</exception>
    /// <exception cref="LogDamage">The log's chain is damaged.</exception>
    public UpgradeTrial(UpgradeTrialOptions options, IFileSystem files, TimeProvider time, Action<string> tell)
    {
        (_options, _files, _tell) = (options, files, tell);
        LogLocation log = NamedLog.Open(options.LogDirectory, files);
        uint from = LogChain.Load(files, log.Directory, log.Identity).NewestVersion(files);
        if (options.To <= from)
            throw new MisuseException($"the new app states version {options.To}, and the log is of version {from}",
                "versions only go up", "raise [AppVersion] of the new build");
        _upgrade = new TriedUpgrade(options, from, files, tell);
        _replay = new ReplaySession(
            new ReplayOptions
            {
                LogDirectory = options.LogDirectory, App = options.App, Old = OldApp,
                From = options.From ?? BeginningOf(log, from, isNewest: options.Follows), Follows = options.Follows, Upgrade = _upgrade,
            },
            files, time, tell);
    }

    private IReadOnlyList<string> OldApp => _upgrade.HasTwoBuilds ? _options.OldApp : _options.App;

    /// <summary>So many bytes of the log are to be executed by the new version.</summary>
    public long BytesTotal => _replay.BytesTotal;

    /// <summary>Finds the checkpoint with which the new version begins: records of an earlier version are not its to execute.</summary>
    private static string BeginningOf(LogLocation log, uint version, bool isNewest)
    {
        IEnumerable<CheckpointFileName> own = CheckpointDirectory.List(log.Files, log.Directory) // the newest comes first
            .Where(each => each.Lsn > Lsn.Zero && CheckpointReader.TryReadHeader(log, each)?.AppVersion == version);
        CheckpointFileName? found = isNewest ? own.FirstOrDefault() : own.LastOrDefault();
        return found is null ? throw new MisuseException($"this log has no sound checkpoint of version {version}",
            "the new version begins with the state of one", "take one with 'ambrosia checkpoint', and ask again") : $"{found.Lsn}";
    }

    /// <summary>Tries it until the log's end, or until a difference behind which nothing can be compared.</summary>
    /// <param name="progress">Hears how many bytes are done.</param>
    /// <param name="stop">The trial ends, with what it has found so far.</param>
    /// <exception cref="MisuseException">An app is not the one that it should be.</exception>
    /// <exception cref="ViewEndedException">The old app, or one that is to convert, has ended.</exception>
    /// <exception cref="LogDamage">The log is damaged.</exception>
    public UpgradeTrialReport Run(Action<long> progress, CancellationToken stop)
    {
        Rehearsal rehearsal = RehearseAtEnd(stop);
        return new UpgradeTrialReport(rehearsal, rehearsal.Why.Length > 0 ? null : _replay.Run(progress, stop));
    }

    private Rehearsal RehearseAtEnd(CancellationToken stop)
    {
        using var old = new ViewHost(
            new ViewOptions { LogDirectory = _options.LogDirectory, App = OldApp, TellsDifferences = false },
            _files, new ToldWarnings(_tell), _tell);
        old.Start();
        old.To(new MessagePlace(old.End, 0), stop);
        return _upgrade.Rehearse(old, stop);
    }

    public void Dispose()
    {
        _replay.Dispose();
        _upgrade.Dispose();
    }
}

/// <summary>Holds what a trial of an upgrade has come to.</summary>
/// <param name="Replay">What the new version did with the recorded inputs; null: the state could not be converted.</param>
internal sealed record UpgradeTrialReport(Rehearsal Rehearsal, ReplayReport? Replay);
