using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// Tells how sure a primary is that it still is one. Safety does not rest on it (F1 does); it makes a primary that was stopped for longer
/// than its rivals' patience silent from its first moment on, until it has read the fence again. Also owns the heartbeat. Any thread.
/// Invariant: a beat follows a successful fence check, and none is written while a flush is outstanding, of pages or of zeros.
/// </summary>
/// <param name="log">The log that is written: a beat says how far it is durable.</param>
internal sealed class PrimaryLease(Fence fence, PrimaryLock held, TimeProvider time, TimeSpan freshFor, IBeatenLog? log = null)
{
    private long _checkedAt = time.GetTimestamp();
    private int _beatDue = 1;

    public Epoch Epoch => fence.Epoch;

    /// <summary>The fence was found ours a short while ago: what rests on durable inputs may be emitted.</summary>
    public bool IsFresh => time.GetElapsedTime(Volatile.Read(ref _checkedAt)) < freshFor;

    /// <summary>A commit group has been flushed and fence-checked.</summary>
    public void Committed()
    {
        if (Volatile.Read(ref _beatDue) != 0) Beat();
    }

    /// <summary>A time to beat has come: the next commit does it, or the next check.</summary>
    public void BeatSoon() => Volatile.Write(ref _beatDue, 1);

    /// <summary>Reads the fence; true: emission was held back until now.</summary>
    /// <param name="mayBeat">No flush of pages is outstanding, and none of zeros for long, so the disk answers.</param>
    /// <exception cref="FenceLostException">Exit 75.</exception>
    public bool Check(bool mayBeat)
    {
        bool wasFresh = IsFresh;
        long asked = time.GetTimestamp(); // before the look-up: a stop in between makes the answer old
        fence.Check();
        Volatile.Write(ref _checkedAt, asked);
        if (mayBeat) Beat();
        return !wasFresh;
    }

    /// <summary>A full disk, which may have no room even for what is written over, costs this beat: there is another one soon.</summary>
    private void Beat()
    {
        Volatile.Write(ref _beatDue, 0);
        try
        {
            held.Beat(log?.Segment ?? 0, log?.Flushed ?? Lsn.Zero);
        }
        catch (IOException e) when (IFileSystem.IsDiskFull(e))
        {
            // What waits for space is not written either, and says so.
        }
    }
}

/// <summary>Tells what a primary's heartbeat says of its log. Any thread.</summary>
internal interface IBeatenLog
{
    /// <summary>The number of the segment that is written.</summary>
    ulong Segment { get; }

    /// <summary>
    /// Everything below is flushed and fence-checked, and so is there for good; 0 where flushes are left out and nothing is.
    /// </summary>
    Lsn Flushed { get; }
}
