using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// Looks for replicas that have executed more of the log than this primary has: then the log was put back with its catalog, as that of a
/// machine that was rolled back is. No replica executes what no primary has stated as durable, so none is ahead otherwise. The thread that
/// makes the replica primary looks first; then the thread that ticks.
/// </summary>
internal sealed class FurtherReplicas(CoordinatorInputs inputs, LogWriter log)
{
    private static readonly TimeSpan s_every = TimeSpan.FromSeconds(1);

    private TimeSpan _last;

    /// <summary>Looks when a second has passed.</summary>
    /// <param name="now">Monotonic.</param>
    /// <exception cref="LogPutBackException">A replica that runs has executed more.</exception>
    public void Tick(TimeSpan now)
    {
        if (now - _last < s_every) return;
        _last = now;
        Look();
    }

    /// <inheritdoc cref="Tick"/>
    public void Look()
    {
        try
        {
            foreach (string name in ReplicaLock.ListRunning(inputs.Files, inputs.Options.LogDirectory, except: inputs.Options.Replica))
            {
                Lsn seen = ReplicaLock.ReadMove(inputs.Files, inputs.Options.LogDirectory, name).Executed, end = log.TailPageEnd;
                if (seen > end) throw new LogPutBackException(inputs.Options.LogDirectory, end, name, seen);
            }
        }
        catch (IOException)
        {
            // What cannot be looked at now is looked at again: nothing is known of it before.
        }
    }
}
