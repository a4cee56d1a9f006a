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
    private SortedDictionary<string, ulong> _missing = new(StringComparer.Ordinal);
    private long _bytes;

    /// <summary>Keeps a run.</summary>
    /// <param name="to">Null: callers outside.</param>
    /// <param name="before">So many messages went there before.</param>
    public void Add(InstanceId? to, ulong before, in RunView run)
    {
        if (_bytes <= bytesMax) _bytes += run.Messages.Length + RunHeader.Bytes;
        if (_bytes <= bytesMax)
            _runs.Add(new ViewedRun(to, before + 1, run.Header, run.Messages.ToArray(), RunCause.In(run.Extensions)));
        else
        {
            string name = to?.ToString() ?? "";
            _missing[name] = _missing.GetValueOrDefault(name) + run.Header.Count;
        }
    }

    /// <summary>Returns what was kept, and begins anew.</summary>
    public ViewedEmissions Take()
    {
        if (_bytes == 0) return ViewedEmissions.None;
        var taken = new ViewedEmissions(_runs, _missing);
        (_runs, _missing, _bytes) = ([], new SortedDictionary<string, ulong>(StringComparer.Ordinal), 0);
        return taken;
    }
}
