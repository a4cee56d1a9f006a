using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Decides which of the two apps of an upgrade executes the log, and refuses what cannot make the upgrade that was asked for, before an
/// epoch is claimed. It owns how long the old app has waited for the new one. Any thread; one lock.
/// </summary>
internal sealed class UpgradeAdmission(CoordinatorInputs inputs, ReplicaLog log, AppExecution execution, AppControl control)
{
    /// <summary>An app that waits is judged again after so long.</summary>
    private static readonly TimeSpan s_judgeEvery = TimeSpan.FromMilliseconds(50);

    /// <summary>The old app waits at most so long for the other to show that it can be started.</summary>
    private static readonly TimeSpan s_nextAppMax = TimeSpan.FromMinutes(1);

    private readonly RankedLock _gate = new(LockRank.UpgradeAdmission);
    private readonly ServiceCheck _services = new(inputs, control.Contracts);

    /// <summary>The old app waits for the new one since then; null: it has not come.</summary>
    private TimeSpan? _waitsSince;

    /// <summary>
    /// This build was found to be a next version of the log's service where this version was in force; null: none was. An app that waits
    /// is asked about every few milliseconds, and the answer is read from the log.
    /// </summary>
    private (BuildId Build, uint InForce)? _foundNext;

    /// <summary>The app version in force where the log ends; 0 before the first record.</summary>
    public uint InForce => log.AppVersion;

    /// <summary>They tell the apps of this replica apart.</summary>
    public AppTokens Tokens => control.Upgrades.Tokens;

    /// <summary>The version with which a new log begins, if this app has come.</summary>
    public uint FirstOf(AppHello hello) => control.Upgrade is { Apps: not null } upgrade ? upgrade.Options.To : hello.AppVersion;

    /// <summary>
    /// Says why an app cannot take the place of the one that runs, by an upgrade under this primary; null: nothing is known against it.
    /// </summary>
    /// <param name="methods">What its build executes; null: it states none.</param>
    /// <param name="running">The app that runs; null: none does now.</param>
    public string? WhatIsWrongInPlace(AppHello hello, BuildMethods? methods, AppHello? running)
    {
        uint above = Math.Max(log.AppVersion, running?.AppVersion ?? 0);
        string come = $"the app that has come is of version {hello.AppVersion}"
            + (hello.Build is { } build && running?.Build == build ? $", and of build {build.Short}, which runs already" : "");
        if (hello.AppVersion <= above)
            return log.AppVersion < above
                ? $"{come}, and the one that runs carries version {above} itself. Start the coordinator again with --upgrade-to {above}, or give an app of a later version"
                : $"{come}; the log is of version {above}, and versions only go up. Give the program of the new version, or raise its [AppVersion] above {above}";
        return _services.WhatIsWrong(hello, methods, isNextVersion: true) is { } other
            ? $"the app that has come is no next version of '{inputs.Identity.Name}': {other}" : null;
    }

    /// <summary>The app behind -- is of the version that the upgrade brings, and of the log's service.</summary>
    /// <param name="methods">What its build executes; null: it states none.</param>
    /// <exception cref="UpgradeRefusedException">It is not; or the log is of a later version already.</exception>
    public void RequireNew(AppHello hello, BuildMethods? methods)
    {
        // A new log begins with any.
        if (control.Upgrade is not { Options: { } upgrade } || log.AppVersion is not (> 0 and var inForce)) return;
        if (inForce > upgrade.To)
            throw new UpgradeRefusedException(
                $"--upgrade-to {upgrade.To}, and the log is of version {inForce} already: versions only go up. Leave --upgrade-to out, or give a higher version and its app");
        if (inForce == upgrade.To) return; // it was made already
        if (hello.AppVersion != upgrade.To)
            throw new UpgradeRefusedException(
                $"--upgrade-to {upgrade.To}, and the app that has come is of version {hello.AppVersion}: start the app of version {upgrade.To}, or name that version");
        if (!upgrade.HasTwoApps && !hello.Executes(inForce))
            throw new UpgradeRefusedException(
                $"--upgrade-to {upgrade.To}, and the log is of version {inForce}, which the app that has come does not carry: give the build that has executed it so far with --old-app, or an app of both versions (AmbrosiaApp.Run<Former, Immortal>)");
        if (upgrade.HasTwoApps) RequireOfService(hello, methods, inForce);
    }

    private void RequireOfService(AppHello hello, BuildMethods? methods, uint inForce)
    {
        if (hello.Build is not { } build) return; // it states nothing by which it could be told
        using (_gate.Enter())
            if (_foundNext == (build, inForce)) return;
        if (_services.WhatIsWrong(hello, methods, isNextVersion: true) is { } other)
            throw new UpgradeRefusedException($"the app behind -- is no next version of '{inputs.Identity.Name}': {other}");
        using (_gate.Enter()) _foundNext = (build, inForce);
    }

    /// <summary>Says whether this app executes the log from there on; of two, one does.</summary>
    /// <param name="methods">What its build executes; null: it states none.</param>
    /// <param name="from">The version of the place where it begins, and the build that has executed it; null: not known.</param>
    /// <returns>
    /// Null: it does. Otherwise why not yet, and until when it is not judged again; the other one does, or it waits for that.
    /// </returns>
    /// <exception cref="AppNotWantedException">It is the old one, and the new one executes the log.</exception>
    /// <exception cref="UpgradeRefusedException">The upgrade cannot be made with these two.</exception>
    public (string Why, TimeSpan Until)? Judge(AppHello hello, BuildMethods? methods, (uint Runs, BuildId? Build) from)
    {
        if (control.Upgrade is not { Apps: { } apps, Options: { } options }) return null;
        uint to = options.To, runs = from.Runs, inForce = log.AppVersion;
        bool isOld = Tokens.IsOld(hello.Token), wantsOld = runs < to;
        if (isOld && wantsOld && inForce < to) RequireOld(hello, methods, (runs, to));
        apps.Pair.Want(wantsOld ? new NeededBuild(runs, from.Build) : null);
        if (isOld && !wantsOld) throw new AppNotWantedException(hello.AppVersion, runs);
        TimeSpan now = inputs.Time.GetElapsedTime(0);
        if (isOld != wantsOld)
            return ($"what comes next is of version {runs}, and the app that executes that has not come yet", now + s_judgeEvery);
        if (!isOld || inForce >= to || execution.OwnsLog || apps.Handover.HasCome) return null;
        string why = $"the app of version {to}, which is to take its place, has not come yet";
        TimeSpan longest = options.Within < s_nextAppMax ? options.Within : s_nextAppMax;
        using (_gate.Enter())
        {
            _waitsSince ??= now;
            if (now - _waitsSince < longest) return (why, now + s_judgeEvery);
        }
        throw new UpgradeRefusedException(
            $"{why}, and {longest.TotalSeconds:0} s are over: start the command behind -- by hand and see what it says. Nothing was claimed");
    }

    private void RequireOld(AppHello hello, BuildMethods? methods, (uint Runs, uint To) versions)
    {
        (uint runs, uint to) = versions;
        const string Mend = "give the build that has executed it so far, with the arguments that it was run with";
        if (hello.AppVersion >= to)
            throw new UpgradeRefusedException(
                $"--old-app is of version {hello.AppVersion}, and --upgrade-to is {to}: give the build of the version before, or leave --old-app out if one app carries both");
        if (!hello.Executes(runs))
            throw new UpgradeRefusedException($"--old-app is of version {hello.AppVersion}, and the log of version {runs}: {Mend}");
        if (_services.WhatIsWrong(hello, methods, isNextVersion: false) is { } other)
            throw new UpgradeRefusedException($"--old-app is no build of '{inputs.Identity.Name}': {other}: {Mend}");
    }
}
