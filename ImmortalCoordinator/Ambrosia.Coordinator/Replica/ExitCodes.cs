using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Replica;

/// <summary>Says by which code the process ends (docs/operating.md).</summary>
public static class ExitCodes
{
    public const int Ok = 0, Misuse = 2, Damage = 65, Divergence = 70, System = 71, Io = 74, NotPrimary = 75, OtherAppVersion = 76;

    /// <summary>Returns the code with which the process must end after this; null: it need not.</summary>
    internal static int? Of(Exception fatal) => fatal switch
    {
        DivergenceException => Divergence,
        LogDamage or FormerVersionMissingException => Damage,
        FenceLostException or LogPutBackException => NotPrimary,
        AppVersionException => OtherAppVersion,
        RedeployRefusedException or OtherServiceException or UpgradeRefusedException or UnrestorableException => Misuse,
        IOException refused when IFileSystem.IsLimit(refused.HResult) => System,
        IOException => Io,
        _ => null,
    };

    /// <summary>
    /// Returns the code and the line with which the process ends after an exception has left one of its threads. One not expected is a
    /// fault of ours: the line says where it happened, since nothing else will.
    /// </summary>
    /// <param name="thread">The name of the thread that it has left.</param>
    internal static (int Code, string Why) Ending(Exception fatal, string thread) =>
        Of(fatal) is { } code ? (code, fatal.Message)
        : fatal is ProtocolViolation ? (Damage, $"the log holds what it must not: {fatal.Message}")
        : fatal is OutOfMemoryException ? (System, $"the system gives out no more memory: {fatal.Message}")
        : (System, $"a fault of the coordinator on its thread '{thread}': {OneLine(fatal)}. Nothing acknowledged is lost; report it with this line.");

    private static string OneLine(Exception fatal) =>
        string.Join(" ", fatal.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));

    /// <summary>
    /// Returns the same end as one who has lost the fence must tell it: a later primary removes and replaces files under it, and what it
    /// finds then says nothing of the disk or the log.
    /// </summary>
    internal static (int Code, string Why) Regarding(Fence? fence, int code, string why)
    {
        if (code is not (Io or Damage or System) || fence is null) return (code, why);
        try
        {
            fence.Check();
            return (code, why);
        }
        catch (FenceLostException lost)
        {
            return (NotPrimary, $"{lost.Message} (it found: {why})");
        }
        catch (IOException)
        {
            return (code, why);
        }
    }
}

/// <summary>
/// The log is executed by another version of the app than the one that has come. Another start of the same program would end the same way,
/// so the replica stops (exit 76). Nothing was given to the app.
/// </summary>
internal sealed class AppVersionException(uint inForce, uint stated) : Exception(
    $"the log is of app version {inForce}, and this app states version {stated}: start a build of version {inForce}"
    + (stated > inForce ? $", or let this one state {inForce} in [assembly: AppVersion] until the log has been upgraded" : ""));

/// <summary>
/// No checkpoint of the version in force can serve, so that the log must be executed from a place before the upgrade on, and the app lacks
/// the version of that place (exit 65). Nothing was given to the app.
/// </summary>
/// <param name="build">The build that has executed it; null: it is not known.</param>
/// <param name="come">The build that has come in its place; null: none has.</param>
internal sealed class FormerVersionMissingException(uint needed, uint inForce, BuildId? build = null, BuildId? come = null) : Exception(
    $"no checkpoint of version {inForce} can serve any more, and what lies before the upgrade is of version {needed}"
    + (build is { } executed ? $", which build {executed.Short} has executed" : "")
    + (come is { } other ? $", and the app of --old-app is build {other.Short}" : "")
    + $": give that build with --upgrade-to {inForce} --old-app, or start one that carries both, with AmbrosiaApp.Run<Former, Immortal>, as the one did that made the upgrade; or put back a checkpoint of version {inForce} from a backup. Nothing was changed");

/// <summary>The old app of an upgrade has come where the new one executes the log: it is ended, and nothing is wrong.</summary>
internal sealed class AppNotWantedException(uint stated, uint wanted) : Exception(
    $"version {wanted} executes the log, and not version {stated}");

/// <summary>The app cannot make the upgrade that was asked for (exit 2). Nothing was given to it, and no epoch was claimed.</summary>
internal sealed class UpgradeRefusedException(string why) : Exception(why);

/// <summary>
/// The app is of a build that would execute recorded inputs otherwise. Another start of the same program would end the same way, so the
/// replica stops (exit 2). Nothing was given to the app.
/// </summary>
internal sealed class RedeployRefusedException(string why) : Exception(why);

/// <summary>The app can restore no checkpoint from which on the log is kept (exit 2). Nothing was changed.</summary>
/// <param name="passed">Each checkpoint, with what is wrong about it.</param>
internal sealed class UnrestorableException(IEnumerable<string> passed) : Exception(
    $"no checkpoint is left that the app can restore, and the log below is not there any more: {string.Join("; ", passed)}. Start the build that wrote the newest one, or mend this one so that it restores it; nothing was changed");

/// <summary>The app of a view is of another service than the log (exit 2). Nothing was given to it.</summary>
internal sealed class OtherServiceException(string why) : Exception(why);

/// <summary>
/// The primary's app is of another build than the one that follows it: the app begins again, and is judged at its hello.
/// </summary>
internal sealed class BuildReplacedException(BuildId own, BuildId ofPrimary) : Exception(
    $"the primary's app is build {ofPrimary.Short}, and this one is build {own.Short}");

/// <summary>A replica that runs has executed more of the log than there is: it was put back, and must not run (exit 75).</summary>
internal sealed class LogPutBackException(string directory, Lsn end, string replica, Lsn seen) : Exception(
    $"the log in {directory} ends at {end}, and replica {replica}, which runs, has executed it up to {seen}: it is older than it was, as a log is that was put back, or that of a machine that was rolled back. " +
    "Put the newer log back; or, if it is gone for good, stop every replica before this one is started: what was answered since is lost then");
