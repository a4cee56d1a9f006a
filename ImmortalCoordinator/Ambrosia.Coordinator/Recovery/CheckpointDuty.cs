using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// When a checkpoint is due: after so many bytes of log and outputs, after so much time, or when the app or the operator asks. One at a
/// time; one that came to nothing is tried again after a pause that grows. Whoever ticks logs the mark. Any thread; time is that of the
/// last tick.
/// </summary>
/// <param name="everyBytes">Log bytes between checkpoints; of outputs, <see cref="OutputShare"/> times as many.</param>
/// <param name="interval">Time between checkpoints of a log that grows; null: time does not count.</param>
internal sealed class CheckpointDuty(long everyBytes, TimeSpan? interval = null)
{
    /// <summary>
    /// Replay makes outputs again, so few inputs with many outputs make a long one too. Not one for one: a checkpoint holds the outputs
    /// that are not trimmed, so that it is dearer where there are many.
    /// </summary>
    public const int OutputShare = 4;

    private static readonly TimeSpan pauseMin = TimeSpan.FromSeconds(1), pauseMax = TimeSpan.FromMinutes(1);

    private readonly Lock gate = new();
    private CheckpointFileName? last;
    private bool isUnderWay;
    private long failures;

    /// <summary>Of the last one that came to nothing; null: one was published since.</summary>
    private string? why;

    /// <summary>Somebody wants a checkpoint at or behind this; null: nobody does.</summary>
    private Lsn? wanted;

    /// <summary>Durable when the last one was published: a log that has not grown since needs none by time.</summary>
    private Lsn seen;

    /// <summary>What apps had emitted at the last mark, and at that of the last one that was published.</summary>
    private long emittedAtMark, emittedBefore;

    private DateTimeOffset now, retryAt;

    /// <summary>When the last one was published, or the first tick; null before that.</summary>
    private DateTimeOffset? since;

    private TimeSpan pause = pauseMin;

    public CheckpointNews News { get { lock (gate) return new CheckpointNews(last, isUnderWay, failures, why); } }

    /// <summary>One was asked for, or is under way.</summary>
    public bool IsDue { get { lock (gate) return isUnderWay || wanted is not null; } }

    /// <summary>The newest checkpoint that the start found.</summary>
    public void Found(CheckpointFileName name, DateTimeOffset taken)
    {
        lock (gate)
        {
            last = name;
            seen = name.Lsn;
            since = taken;
        }
    }

    /// <param name="durable">Of the log, now.</param>
    public void Published(CheckpointFileName name, Lsn durable)
    {
        lock (gate)
        {
            last = name;
            seen = durable;
            since = now;
            emittedBefore = emittedAtMark;
            pause = pauseMin;
            isUnderWay = false;
            why = null;
            if (wanted <= name.Lsn) wanted = null;
        }
    }

    /// <summary>Somebody wants a checkpoint of all that is below <paramref name="durable"/>, as soon as one can be taken.</summary>
    public void Request(Lsn durable)
    {
        lock (gate)
        {
            if (wanted is null || wanted < durable) wanted = durable;
            retryAt = now;
        }
    }

    /// <summary>The one under way came to nothing, or keeps us waiting for too long; after a pause the next one tries again.</summary>
    public void Failed(string because)
    {
        lock (gate)
        {
            if (!isUnderWay) return;
            End(because);
            retryAt = now + pause;
            pause = pause * 2 < pauseMax ? pause * 2 : pauseMax;
        }
    }

    /// <summary>The app went away: the next session begins anew.</summary>
    public void SessionEnded()
    {
        lock (gate) if (isUnderWay) End("the app's session ended before it was written");
    }

    private void End(string because)
    {
        isUnderWay = false;
        why = because;
        failures++;
    }

    /// <summary>True: a mark is to be logged now.</summary>
    public bool Claim(Lsn durable, EmittedBytes outputs, DateTimeOffset now)
    {
        lock (gate)
        {
            this.now = now;
            if (since is null || now < since) since = now; // a clock that was set back must not stop checkpoints
            if (retryAt - now > pauseMax) retryAt = now;
            if (isUnderWay || now < retryAt || (wanted is null && !IsDueBySize(durable, outputs) && !IsDueByTime(durable)))
                return false;
            emittedAtMark = outputs.Total;
            return isUnderWay = true;
        }
    }

    /// <summary>The log had no room for the mark: claimed again at the next tick.</summary>
    public void GiveBack()
    {
        lock (gate) isUnderWay = false;
    }

    // A replica may have published one beyond what the caller last saw as durable.
    private bool IsDueBySize(Lsn durable, EmittedBytes outputs)
    {
        Lsn from = last?.Lsn ?? Lsn.Zero;
        long counted = Math.Max(outputs.Total - emittedBefore - outputs.Spilled * OutputShare, 0) / OutputShare;
        return durable > from && durable - from >= everyBytes - counted;
    }

    private bool IsDueByTime(Lsn durable) => interval is { } limit && durable > seen && now - since >= limit;
}
