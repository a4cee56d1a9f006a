using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>Holds what a build does with a cut against what the cut says of then. One thread.</summary>
internal sealed class ReplayedCut
{
    private readonly Cut _cut;
    private readonly CutOutcome _then;
    private readonly EmissionTally _tally = new();

    private ReplayedCut(Cut cut, CutOutcome then, MessagePlace place)
    {
        (_cut, _then) = (cut, then);
        Behind = cut.IsEnd ? place : place with { Index = place.Index + 1 };
    }

    /// <summary>Both are compared here.</summary>
    public MessagePlace Behind { get; }

    /// <summary>Opens the cut; null: the log is none, or one that does not say what was done then.</summary>
    public static ReplayedCut? TryOpen(LogLocation log) =>
        log.Files.Exists(Path.Combine(log.Directory, LogCut.FileName)) && Cut.Read(log.Directory) is { Then: { } then } cut
            && MessagePlace.TryParse(cut.Place, out MessagePlace place) ? new ReplayedCut(cut, then, place) : null;

    /// <summary>Adds what the build has emitted next.</summary>
    public void Add(ViewedEmissions emitted) => _tally.Add(emitted);

    /// <summary>Returns what differs, in lines, where the build stands behind the message.</summary>
    public IReadOnlyList<string> Lines(ViewHost build, CancellationToken stop)
    {
        using ViewedImage image = build.Show(stop);
        return CutComparison.Lines(_cut, _then, _then with { Emitted = _tally.Sums, State = $"{image.Hash:x16}" }, image.Bytes);
    }
}
