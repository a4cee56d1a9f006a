using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Holds what builds emit against what was emitted then: by the old build, or else by what those who were called have in their logs. Logs
/// are read while the app executes, so that it does not stand still for them. One thread.
/// </summary>
/// <param name="builds">They have begun.</param>
/// <param name="begin">The own log begins here.</param>
/// <param name="isGrowing">
/// The logs are written meanwhile. Then they are read for calls that were made, and not for what may be missing, which the digests tell:
/// whoever reads where a primary writes takes its disk from it.
/// </param>
internal sealed class RecordedCalls(ReplayedBuilds builds, Lsn begin, bool isGrowing) : IDisposable
{
    private readonly CallHistory? _history = builds.OpenHistory();

    /// <summary>So many calls were made to each receiver where calls were compared last.</summary>
    private IReadOnlyDictionary<InstanceId, ulong> _made = new Dictionary<InstanceId, ulong>();

    /// <summary>Executes everything before a place.</summary>
    /// <exception cref="ViewEndedException">The build that is tried cannot.</exception>
    public Stops To(MessagePlace place, CancellationToken stop)
    {
        if (_history is not { } history || isGrowing) return builds.To(place, stop);
        ulong bytes = BytesBefore(place);
        var reading = Task.Run(() => history.ReadAhead(bytes), CancellationToken.None);
        Stops stops;
        try
        {
            stops = builds.To(place, stop);
        }
        finally
        {
            ((IAsyncResult)reading).AsyncWaitHandle.WaitOne();
        }
        reading.GetAwaiter().GetResult();
        return stops;
    }

    /// <summary>Compares what was emitted in a stretch that ends where the builds stand.</summary>
    /// <param name="isLast">Nothing follows.</param>
    public StretchComparison Compare(in Stops stops, bool isLast)
    {
        if (isGrowing) _history?.GoOn();
        // Behind the last stretch, and where the digests say that something is missing, each call that is must be found. Else it may be
        // found behind a later stretch, since no log can be searched to its end behind each.
        bool isThorough = (isLast && !isGrowing) || builds.Now.Diverged is not null;
        StretchComparison stretch = builds.Compare(stops, _history, isThorough ? null : isGrowing ? 0 : BytesBefore(stops.Now.Place));
        _made = builds.Now.CallsMade();
        return stretch;
    }

    /// <summary>Finds the calls that had to be made before a place, and were not where calls were compared last.</summary>
    public StretchComparison Overdue(MessagePlace place) =>
        _history is null ? new StretchComparison() : StretchComparison.OfOverdue(_made, place.Record, _history);

    /// <summary>
    /// Each log is read as far from its beginning as the own one is executed. That is one of them, and holds no call behind it that was
    /// due before it.
    /// </summary>
    private ulong BytesBefore(MessagePlace place) => place.Record.Value - begin.Value;

    public void Dispose() => _history?.Dispose();
}
