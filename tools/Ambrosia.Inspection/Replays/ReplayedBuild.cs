using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// One build of an app that executes the log in a view of its own, from a place on, and stops where it is told to. All that it emits
/// between two stops comes with the second. One thread at a time.
/// </summary>
internal sealed class ReplayedBuild : IDisposable
{
    private readonly ViewHost _view;

    /// <param name="from">Its session begins with the newest checkpoint at or below.</param>
    /// <param name="tell">Hears what is to be known beside the comparison. Any thread calls it.</param>
    public ReplayedBuild(ReplayOptions options, IReadOnlyList<string> app, Lsn from, IFileSystem files, Action<string> tell)
    {
        From = from;
        _view = new ViewHost(
            new ViewOptions { LogDirectory = options.LogDirectory, App = app, Checkpoint = from, TellsDifferences = false }, files,
            new ToldWarnings(tell), tell);
    }

    public Lsn From { get; }

    /// <summary>Everything below is durable.</summary>
    public Lsn End => _view.End;

    public long Records => _view.Records;

    /// <summary>Everything below was compared with the digests of the log, and agrees.</summary>
    public Lsn Confirmed => _view.Confirmed;

    /// <summary>So many digests agree.</summary>
    public long DigestsAgreed => _view.DigestsAgreed;

    /// <summary>Where the digests of the log agreed last, and where the first one differs; null: none does.</summary>
    public (Lsn Agreed, Lsn Differed)? Diverged => _view.Diverged;

    /// <summary>Starts the app and executes everything before a place, of which nothing is kept.</summary>
    /// <exception cref="ViewEndedException">The app cannot.</exception>
    public ViewStop Begin(MessagePlace at, CancellationToken stop)
    {
        _view.Start();
        ViewStop begun = _view.To(at, stop);
        _view.KeepsEmissions = true;
        return begun;
    }

    /// <exception cref="ViewEndedException">The app cannot execute what comes before the place.</exception>
    public ViewStop To(MessagePlace place, CancellationToken stop) => _view.To(place, stop);

    /// <exception cref="ViewEndedException">The app cannot execute the next message.</exception>
    public ViewStop Next(CancellationToken stop) => _view.Next(stop);

    /// <summary>Returns the image of the state; whoever takes it disposes of it.</summary>
    public ViewedImage Show(CancellationToken stop) => _view.Show(stop);

    /// <summary>Returns what those who were called have in their logs; whoever takes it disposes of it.</summary>
    public CallHistory OpenHistory(Func<InstanceId, string?> directoryOf) => _view.OpenHistory(directoryOf);

    /// <summary>Returns how many calls it has made to each receiver that it or the log knows, while it stands.</summary>
    public IReadOnlyDictionary<InstanceId, ulong> CallsMade() => _view.CallsMade();

    public void Dispose() => _view.Dispose();
}
