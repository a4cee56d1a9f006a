using System.Globalization;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Inspection.Debugging;

/// <summary>Says, when a view has begun, what it has begun with and what build executes it now, beside the one that did then.</summary>
internal static class ViewNotice
{
    /// <summary>Returns the lines that a person should know before the first stop.</summary>
    public static IEnumerable<string> Of(ViewHost view, LogLocation log, Lsn place)
    {
        AppHello? app = view.App;
        (string beginning, BuildId? taker) = BeginningOf(view.Begun, log);
        yield return $"{beginning}{(app is null ? "" : $", app version {app.AppVersion}")}";
        if (LogCut.IsMasked(log.Files, log.Directory)) yield return "it is a masked cut: others stand in the place of the values of then";
        if (app is null) yield break;
        if (view.BuildBelow(place) is not { } then)
        {
            if (taker is { } build) yield return LineOf(build, app);
            yield break;
        }
        yield return LineOf(then, app);
        if (DriftOf(then, app) is { } drift) yield return drift;
    }

    /// <summary>Names what a session begins with, and the build that has taken it, where it is a checkpoint that says so.</summary>
    private static (string Text, BuildId? Taker) BeginningOf(Lsn from, LogLocation log)
    {
        if (from == Lsn.Zero) return ("from the beginning of the log", null);
        foreach (CheckpointFileName name in CheckpointDirectory.List(log.Files, log.Directory))
        {
            if (name.Lsn != from || CheckpointNotice.TryRead(log, name) is not { } notice) continue;
            string suspended = notice.Suspended switch
            {
                null => "",
                0 => ", nothing suspended",
                1 => ", 1 method suspended",
                { } many => string.Create(CultureInfo.InvariantCulture, $", {many:N0} methods suspended"),
            };
            return ($"from {name} ({TextFormat.Time(notice.Header.TimeMicros)}){suspended}", notice.Header.Build);
        }
        return ($"from the checkpoint at {from}", null);
    }

    /// <summary>Says whether the build is the same that has executed these records.</summary>
    internal static string LineOf(BuildRecord then, AppHello app)
    {
        string executed = then.Build is { } build ? $"build {build.Short}" : "a build that did not say which it is";
        return $"these records were executed by {executed} ({then.Runtime}, {CultureOf(then.Culture)}, {then.Cpu}); {Yours(app, then.Build)}";
    }

    /// <summary>Says the same where the beginning of the epoch, which names the build, is not kept any more.</summary>
    internal static string LineOf(BuildId taker, AppHello app) => $"its checkpoint was taken by build {taker.Short}; {Yours(app, taker)}";

    private static string Yours(AppHello app, BuildId? then) =>
        app.Build is not { } own ? "yours does not say which it is" : own == then ? "yours is the same" : $"yours is {own.Short}";

    /// <summary>Says what is other around the app than it was; null: nothing that the log tells.</summary>
    internal static string? DriftOf(BuildRecord then, AppHello app)
    {
        var others = new List<string>();
        if (then.Runtime != app.Runtime) others.Add(app.Runtime);
        if (then.Culture != app.Culture) others.Add(CultureOf(app.Culture));
        if (then.Cpu != app.Cpu) others.Add(app.Cpu);
        return others.Count == 0 ? null : $"yours runs with {string.Join(", ", others)}: what depends on that may differ";
    }

    private static string CultureOf(string culture) => culture.Length == 0 ? "invariant culture" : $"culture {culture}";
}
