using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// When a checkpoint is due: after so many bytes of log, or when the app or the operator asks. One at a time. Pure but for its lock;
/// whoever ticks logs the mark. Any thread.
/// </summary>
internal sealed class CheckpointDuty(long everyBytes)
{
    private readonly Lock gate = new();
    private Lsn last;
    private bool requested, underWay;

    /// <summary>The newest checkpoint there is.</summary>
    public void Published(Lsn lsn)
    {
        lock (gate)
        {
            last = lsn;
            underWay = requested = false;
        }
    }

    public void Request()
    {
        lock (gate) requested = true;
    }

    /// <summary>The one under way came to nothing; the next one tries again.</summary>
    public void Failed()
    {
        lock (gate) underWay = false;
    }

    /// <summary>One was asked for, or is under way.</summary>
    public bool IsDue { get { lock (gate) return underWay || requested; } }

    /// <summary>True: a mark is to be logged now.</summary>
    public bool Claim(Lsn durable)
    {
        lock (gate)
        {
            if (underWay || (!requested && durable - last < everyBytes)) return false;
            return underWay = true;
        }
    }
}
