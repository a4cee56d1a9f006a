using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Chooses who takes the next checkpoint: a secondary when there is one, so that the primary is not disturbed, else the primary itself. The
/// duty moves when its holder goes, or has shown nothing for long. Pure; whoever has its turn in <see cref="CheckpointScheduler"/>.
/// </summary>
/// <param name="own">This replica, the primary.</param>
internal sealed class CheckpointAssigner(string own)
{
    /// <summary>A holder that has not published for so long is passed over once: its app may be missing, or stuck.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private TimeSpan _since;
    private volatile string? _passedOver;

    /// <summary>The secondary whose checkpoint is awaited; null: none is.</summary>
    public string? Assignee { get; private set; }

    /// <summary>The position of the mark. A checkpoint at or behind it is the one that was asked for.</summary>
    public Lsn Mark { get; private set; }

    /// <param name="present">Replicas that run, in ordinal order, the own one among them or not.</param>
    public string Choose(IReadOnlyList<string> present)
    {
        string[] others = [.. present.Where(name => name != own)];
        return others.FirstOrDefault(name => name != _passedOver) ?? (_passedOver is null ? others.FirstOrDefault() : null) ?? own;
    }

    /// <summary>A mark with this name is in the log.</summary>
    /// <param name="now">Monotonic.</param>
    public void Marked(string replica, Lsn mark, TimeSpan now)
    {
        Assignee = replica == own ? null : replica;
        Mark = mark;
        _since = now;
    }

    /// <summary>The holder is gone, or does nothing: a mark with another name is due.</summary>
    public bool MustMove(IReadOnlyList<string> present, TimeSpan now)
    {
        if (Assignee is not { } name) return false;
        bool isStuck = now - _since > Patience;
        if (isStuck) _passedOver = name;
        return isStuck || !present.Contains(name);
    }

    /// <summary>The duty is done, as far as can be seen.</summary>
    public void Done()
    {
        if (Assignee != _passedOver) _passedOver = null;
        Assignee = null;
    }

    /// <summary>The next choice falls on another, on the primary itself if there is none. Any thread.</summary>
    public void PassOver(string replica) => _passedOver = replica;
}
