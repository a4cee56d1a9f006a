using System.Collections.Concurrent;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Texts;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Builds;

/// <summary>
/// Judges an app at its hello, before it is given anything: a redeploy must not rewrite history (log-format L5.18). What is recorded behind
/// the checkpoint was executed last by the build of the newest Build record; another build is held against that, handler by handler, and
/// only by the handlers that the recorded inputs call. It owns what was told already, since one app may be judged several times. The
/// threads that read apps, one at a time.
/// </summary>
internal sealed class RedeployCheck(CoordinatorInputs inputs, ContractFiles files)
{
    /// <summary>Stands in front of the time zone in what an app says of its runtime (protocol P5.1).</summary>
    private const string ZoneBegin = ", zone ";

    /// <summary>A line names so many handlers at most.</summary>
    private const int NamesMax = 5;

    /// <summary>The operator was told of this build; null: of none.</summary>
    private BuildId? _told;

    /// <summary>The app that was judged last, and what its session begins with; null: none was, or it states no build.</summary>
    private volatile Judged? _judged;

    /// <summary>Judges an app; returns why it has to wait, null: it may execute the log.</summary>
    /// <param name="methods">What the handlers of the app's build execute; null: the app states none, and nothing can be judged.</param>
    /// <param name="checkpoint">The session begins with it; null: with the log.</param>
    /// <param name="ownsLog">This replica is primary already.</param>
    /// <exception cref="RedeployRefusedException">It would execute recorded inputs otherwise, and nobody has accepted that.</exception>
    public string? Judge(AppHello app, BuildMethods? methods, CheckpointHeader? checkpoint, bool ownsLog)
    {
        _judged = null;
        var chain = LogChain.Load(inputs.Files, inputs.Options.LogDirectory, inputs.Identity);
        if (chain.FirstAbove(inputs.Files, app.AppVersion) is { } upgrade)
        {
            RequireFormer(app, LoggedBuilds.FindNewest(inputs.Location, chain, upgrade), checkpoint, inForce: chain);
            return null;
        }
        BuildRecord? last = LoggedBuilds.FindNewest(inputs.Location, chain);
        if (last?.AppVersion < checkpoint?.AppVersion) last = null; // an upgrade by two builds came behind it
        if (last is not null && ownsLog) TellDrift(app, last);
        if ((last?.Build ?? checkpoint?.Build) is not { } before) return null;
        _judged = methods is null ? null : new Judged(methods, checkpoint);
        if (methods is null) inputs.Logger.BuildUnknown(before.Short);
        if (methods is null || before == methods.Build) return null;
        // Who upgrades is of another build by its nature; the former version in it is held against what is recorded like any other.
        bool mayFollow = app.HasVersions && inputs.Options.Upgrade is not null;
        if (!ownsLog && !mayFollow && PrimaryClaim.HasPrimary(inputs.Files, inputs.Options.LogDirectory, inputs.Identity))
            return $"its app is build {methods.Build.Short}, and that of the primary is build {before.Short}: it executes nothing before another replica of its build is primary, or a checkpoint covers every input and no replica is";
        JudgeRecorded(before, methods, checkpoint, chain);
        return null;
    }

    /// <summary>
    /// Says whether another build, which has executed the log up to a place, has executed some of it otherwise than the app that was judged
    /// last does. That one was given the log all the same, so it was accepted, now or at the beginning of its first epoch. Any thread.
    /// </summary>
    public bool HasAccepted(BuildId other, Lsn below)
    {
        if (_judged is not { } judged || judged.App.Build == other) return false;
        if (judged.Accepted.ContainsKey(other)) return true;
        BuildMethods? then = files.TryReadMethods(other);
        var chain = LogChain.Load(inputs.Files, inputs.Options.LogDirectory, inputs.Identity);
        var calls = RecordedCalls.Read(inputs.Location, chain, judged.Checkpoint, (then?.Ids ?? []).Concat(judged.App.Ids), below);
        return calls.Inputs > 0 && Differences(then, judged.App, calls).Any() && (judged.Accepted[other] = true);
    }

    /// <summary>An app cannot go on with an epoch that another build has executed.</summary>
    /// <exception cref="RedeployRefusedException">It is of another build.</exception>
    public static void RequireSame(AppHello? before, AppHello now)
    {
        if (before?.Build is { } old && now.Build is { } other && old != other)
            throw new RedeployRefusedException(
                $"this coordinator's epoch is executed by build {old.Short}, and the app that has come is build {other.Short}: its files were replaced. Start the coordinator again, which judges the new build first");
    }

    /// <summary>The very build that has executed what lies before an upgrade executes it again.</summary>
    /// <exception cref="FormerVersionMissingException">The app is another build.</exception>
    private void RequireFormer(AppHello app, BuildRecord? last, CheckpointHeader? checkpoint, LogChain inForce)
    {
        if ((last?.Build ?? checkpoint?.Build) is not { } before || app.Build is not { } now || before == now) return;
        if (inputs.Options.AcceptBuild is { } named && now.ToString().StartsWith(named, StringComparison.OrdinalIgnoreCase)) return;
        uint version = inForce.NewestVersion(inputs.Files);
        throw new FormerVersionMissingException(app.AppVersion, version, before, now);
    }

    private void JudgeRecorded(BuildId before, BuildMethods now, CheckpointHeader? checkpoint, LogChain chain)
    {
        BuildMethods? then = files.TryReadMethods(before);
        var calls = RecordedCalls.Read(inputs.Location, chain, checkpoint, (then?.Ids ?? []).Concat(now.Ids));
        if (calls.Inputs == 0) return;
        string[] differing = [.. Differences(then, now, calls)];
        string what = string.Join(", ", differing.Take(NamesMax))
            + (differing.Length > NamesMax ? $" and {differing.Length - NamesMax} more" : "");
        bool isAccepted = inputs.Options.AcceptBuild is { } named
            && now.Build.ToString().StartsWith(named, StringComparison.OrdinalIgnoreCase);
        if (differing.Length > 0 && !isAccepted)
            throw new RedeployRefusedException(
                $"{calls.Inputs} inputs behind the newest checkpoint were executed by build {before.Short}, and this app, build {now.Build.Short}, executes some of them otherwise: {what}. "
                + $"Start the old build once more and stop it with '{ShellWords.Join("ambrosia", "stop", inputs.Options.LogDirectory)}', so that a checkpoint covers them; or start this one with --accept-build {now.Build.Short}, and what was answered and sent before may contradict its state.");
        if (_told == now.Build) return;
        _told = now.Build;
        if (differing.Length > 0) inputs.Logger.RedeployAsAccepted(calls.Inputs, before.Short, now.Build.Short, what);
        else inputs.Logger.RedeployAlike(calls.Inputs, before.Short, now.Build.Short);
    }

    /// <summary>Says which of the recorded inputs two builds execute differently; none: all of them alike.</summary>
    private static IEnumerable<string> Differences(BuildMethods? then, BuildMethods now, RecordedCalls calls)
    {
        if (then is null)
        {
            yield return "what that build executes is not in contracts/ any more, so all of them count";
            yield break;
        }
        if (then.Outside != now.Outside) yield return "what is no method's body (fields, constants, attributes, or the binding)";
        if (calls.HasFirstStart && then.First != now.First) yield return "the first start";
        foreach (uint id in then.Ids.Union(now.Ids).Order())
        {
            if (then[id]?.Hash == now[id]?.Hash || (calls[id] == 0 && calls.Unnamed == 0)) continue;
            string name = (now[id] ?? then[id])!.Name;
            yield return calls[id] > 0 ? $"{name} ({calls[id]} calls)" : $"{name} (perhaps, as a retry)";
        }
        if (calls.Resumed > 0 && then.Resumed != now.Resumed)
            yield return $"methods that {calls.Resumed} answers, timers and results of tasks may resume";
    }

    /// <summary>Runtime, zone, culture and processor are no part of a build; they are told where they are others than before.</summary>
    private void TellDrift(AppHello app, BuildRecord last)
    {
        if (Drift(app, last) is var (then, now)) inputs.Logger.SurroundingsChanged(then, now);
    }

    /// <summary>Returns what executed the log before and what does now; null where nothing is known to be another.</summary>
    internal static (string Then, string Now)? Drift(AppHello app, BuildRecord last)
    {
        // Where one binding did not say the zone, it is no difference.
        bool haveZones = last.Runtime.Contains(ZoneBegin, StringComparison.Ordinal)
            && app.Runtime.Contains(ZoneBegin, StringComparison.Ordinal);
        string Compared(string runtime) => haveZones ? runtime : runtime.Split(ZoneBegin)[0];
        string then = $"{last.Runtime}, culture '{last.Culture}', {last.Cpu}", now = $"{app.Runtime}, culture '{app.Culture}', {app.Cpu}";
        return (Compared(last.Runtime), last.Culture, last.Cpu) == (Compared(app.Runtime), app.Culture, app.Cpu) ? null : (then, now);
    }

    /// <summary>Holds an app that was judged, and the builds that it is known to have been accepted behind.</summary>
    private sealed record Judged(BuildMethods App, CheckpointHeader? Checkpoint)
    {
        public ConcurrentDictionary<BuildId, bool> Accepted { get; } = new();
    }
}

/// <summary>Declares the events of redeploys.</summary>
internal static partial class RedeployEvents
{
    /// <summary>The recorded inputs behind the checkpoint call only handlers that both builds execute alike.</summary>
    [LoggerMessage(EventId = 831, EventName = "app.redeploy.alike", Level = LogLevel.Information,
        Message = "{Inputs} inputs were executed by build {Before}; build {Now} executes them alike: nothing that they call has changed")]
    public static partial void RedeployAlike(this ILogger logger, long inputs, string before, string now);

    /// <summary>
    /// The operator has accepted with --accept-build that this build executes recorded inputs otherwise: what was answered and sent before
    /// may contradict the state.
    /// </summary>
    [LoggerMessage(EventId = 832, EventName = "app.redeploy.accepted", Level = LogLevel.Warning,
        Message = "{Inputs} inputs were executed by build {Before}, and build {Now} executes some of them otherwise, as --accept-build allows: {What}")]
    public static partial void RedeployAsAccepted(this ILogger logger, long inputs, string before, string now, string what);

    /// <summary>
    /// This replica's app is of another build than the primary's. It waits, and is told once for each app that comes. Give both the same
    /// build, or stop the primary cleanly, so that a checkpoint covers every input.
    /// </summary>
    [LoggerMessage(EventId = 833, EventName = "app.redeploy.waits", Level = LogLevel.Warning, Message = "this replica waits: {Why}")]
    public static partial void RedeployWaits(this ILogger logger, string why);

    /// <summary>
    /// The primary's app was replaced by another build than the one that this secondary runs. Its app begins again and is judged anew.
    /// </summary>
    [LoggerMessage(EventId = 834, EventName = "app.redeploy.primary", Level = LogLevel.Warning,
        Message = "the app of this secondary stops executing: {Why}")]
    public static partial void PrimaryRedeployed(this ILogger logger, string why);

    /// <summary>
    /// The log was executed by a build that is known, and the app that has come states none: it is not held against what is recorded. A
    /// single-file or trimmed app states none, and one of more than 64 MiB without the file that its build writes beside it.
    /// </summary>
    [LoggerMessage(EventId = 836, EventName = "app.build.unknown", Level = LogLevel.Warning,
        Message = "the app states no build: whether it executes what build {Before} has executed as that did is not known")]
    public static partial void BuildUnknown(this ILogger logger, string before);

    /// <summary>
    /// Runtime, time zone, zone data, culture or processor are others than those that executed the log before. Recorded inputs are executed
    /// all the same; look here first if this replica diverges.
    /// </summary>
    [LoggerMessage(EventId = 835, EventName = "app.surroundings", Level = LogLevel.Warning,
        Message = "the log was executed under {Then}, and is now under {Now}")]
    public static partial void SurroundingsChanged(this ILogger logger, string then, string now);
}
