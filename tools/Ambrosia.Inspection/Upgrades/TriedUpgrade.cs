using System.Diagnostics;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Inspection.States;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Inspection.Upgrades;

/// <summary>
/// Takes an app from one version to the next, as often as a trial needs it: an app that carries both converts its own state, and
/// where there are two builds the new one is given the state of the old one. Nothing of it gets out. One thread.
/// </summary>
internal sealed class TriedUpgrade(UpgradeTrialOptions options, uint from, IFileSystem files, Action<string> tell) : IDisposable
{
    /// <summary>The new build, which only converts; null: it has not been needed, or one app carries both versions.</summary>
    private ConversionHost? _newBuild;

    public bool HasTwoBuilds => options.OldApp.Count > 0;

    /// <summary>Converts a copy of the state where an app of the version before stands, as the rehearsal of an upgrade does.</summary>
    /// <exception cref="MisuseException">One app is to carry both versions, and does not.</exception>
    /// <exception cref="ViewEndedException">An app has died of it, or is not the one that it should be.</exception>
    public Rehearsal Rehearse(ViewHost old, CancellationToken stop)
    {
        if (!HasTwoBuilds) RequireBoth(old.App!);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop);
        limit.CancelAfter(options.Limit);
        var time = Stopwatch.StartNew();
        try
        {
            ConvertedFrame answer = HasTwoBuilds ? RehearseInNewBuild(old, limit.Token)
                : old.Convert(from, options.To, ConversionUse.Rehearsal, limit.Token);
            return new Rehearsal(answer.Position, answer.Length, answer.Hash, time.Elapsed, answer.Why);
        }
        catch (OperationCanceledException) when (!stop.IsCancellationRequested)
        {
            return new Rehearsal(
                old.End, 0, 0, time.Elapsed, $"it was not done within {options.Limit.TotalSeconds:0.#} s; --upgrade-limit gives it longer");
        }
    }

    private void RequireBoth(AppHello app)
    {
        if (app.HasVersions && app.Executes(from) && app.AppVersion == options.To) return;
        throw new MisuseException(
            $"the app that has come is of version {app.AppVersion}, and the upgrade is from version {from}, {(app.Executes(from) ? "" : "which the app does not carry, ")}to {options.To}",
            "one app carries both versions, or two builds one each",
            "give the build that has executed the log so far with --old-app, or an app of both versions (AmbrosiaApp.Run<Former, Immortal>)");
    }

    private ConvertedFrame RehearseInNewBuild(ViewHost old, CancellationToken stop)
    {
        _newBuild ??= new ConversionHost(
            options.LogDirectory, options.App, options.To, files, new ToldWarnings(tell));
        using ViewedImage state = old.Show(stop);
        return _newBuild.Rehearse(state, from, stop);
    }

    /// <summary>Lets the app of both versions go on as the new one. An app of the new version alone has begun as it already.</summary>
    /// <exception cref="MisuseException">The state there cannot be converted.</exception>
    public void GoOn(ViewHost now, CancellationToken stop)
    {
        if (HasTwoBuilds) return;
        Rehearsal first = Rehearse(now, stop); // a switch that fails has no other answer than the app's end
        if (first.Why.Length > 0)
            throw new MisuseException($"the state at {first.Position} cannot become one of version {options.To}", first.Why,
                "begin at a later checkpoint with --from");
        now.Convert(from, options.To, ConversionUse.Switch, stop);
    }

    /// <summary>
    /// Compares, where both versions stand at one place, what becomes of the old state with the state of the new version, which has come
    /// there by itself: lines; none: they are equal.
    /// </summary>
    public IReadOnlyList<string> Differences(ViewHost old, ViewHost now, CancellationToken stop)
    {
        Rehearsal made = Rehearse(old, stop);
        if (made.Why.Length > 0) return [$"the old state could not be converted here: {made.Why}"];
        using ViewedImage own = now.Show(stop);
        if (own.Hash == made.Hash) return [];
        using ViewedImage before = HasTwoBuilds ? old.Show(stop) : old.ShowConverted(from, options.To, stop);
        return StateLines.Of(before.Bytes, own.Bytes);
    }

    public void Dispose() => _newBuild?.Dispose();
}
