using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Who takes the next checkpoint: a secondary when there is one, so that the primary is not disturbed, else the primary itself. The duty
/// moves when its holder goes, or has shown nothing for long. Pure; the primary's ticking thread.
/// </summary>
/// <param name="own">This replica, the primary.</param>
internal sealed class CheckpointRota(string own)
{
    /// <summary>A holder that has not published for so long is passed over once: its app may be missing, or stuck.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private DateTimeOffset since;
    private volatile string? passedOver;

    /// <summary>The secondary whose checkpoint is awaited; null: none is.</summary>
    public string? OnDuty { get; private set; }

    /// <summary>Where its mark stands: a checkpoint at or behind it fulfils the duty.</summary>
    public Lsn Mark { get; private set; }

    /// <param name="present">Replicas that run, in ordinal order, the own one among them or not.</param>
    public string Choose(IReadOnlyList<string> present)
    {
        string[] others = [.. present.Where(name => name != own)];
        return others.FirstOrDefault(name => name != passedOver) ?? (passedOver is null ? others.FirstOrDefault() : null) ?? own;
    }

    /// <summary>A mark with this name is in the log.</summary>
    public void Marked(string replica, Lsn mark, DateTimeOffset now)
    {
        OnDuty = replica == own ? null : replica;
        Mark = mark;
        since = now;
    }

    /// <summary>The holder is gone, or does nothing: a mark with another name is due.</summary>
    public bool MustMove(IReadOnlyList<string> present, DateTimeOffset now)
    {
        if (OnDuty is not { } name) return false;
        if (now < since) since = now; // the clock was set back
        bool isStuck = now - since > Patience;
        if (isStuck) passedOver = name;
        return isStuck || !present.Contains(name);
    }

    /// <summary>The duty is done, as far as can be seen.</summary>
    public void Done()
    {
        if (OnDuty != passedOver) passedOver = null;
        OnDuty = null;
    }

    /// <summary>The next choice falls on another, on the primary itself if there is none. Any thread.</summary>
    public void PassOver(string replica) => passedOver = replica;
}
