using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Views;

/// <summary>
/// Keeps copies of what the app of a view emits until somebody takes them, in bounded memory: what comes beyond is left out, and that is
/// said. Under the view's lock.
/// </summary>
internal sealed class EmissionRecorder(long bytesMax)
{
    private List<ViewedRun> _runs = [];
    private long _bytes;

    /// <summary>Keeps a run.</summary>
    /// <param name="to">Null: callers outside.</param>
    /// <param name="before">So many messages went there before.</param>
    public void Add(InstanceId? to, ulong before, in RunView run)
    {
        if (_bytes <= bytesMax) _bytes += run.Messages.Length + RunHeader.Bytes;
        if (_bytes > bytesMax) return;
        _runs.Add(new ViewedRun(to, before + 1, run.Header, run.Messages.ToArray(), RunCause.In(run.Extensions)));
    }

    /// <summary>Returns what was kept, and begins anew.</summary>
    public ViewedEmissions Take()
    {
        ViewedEmissions taken = _runs.Count == 0 && _bytes == 0 ? ViewedEmissions.None : new ViewedEmissions(_runs, _bytes <= bytesMax);
        (_runs, _bytes) = ([], 0);
        return taken;
    }
}
