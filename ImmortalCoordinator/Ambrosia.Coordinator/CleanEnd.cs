namespace Ambrosia.Coordinator;

/// <summary>
/// Decides how a replica that is asked to stop leaves its log: with a checkpoint if one comes soon, else with a durable mark behind the
/// last record; it waits for no peer. It never waits itself: a pump asks again until it is over. One thread.
/// </summary>
internal sealed class CleanEnd
{
    /// <summary>A checkpoint is waited for until then, and a mark until then, both since the stop was asked for.</summary>
    private static readonly TimeSpan s_checkpointMax = TimeSpan.FromSeconds(5), s_markMax = TimeSpan.FromSeconds(6);

    private readonly Coordinator _parts;
    private bool _awaitsCheckpoint;

    public CleanEnd(Coordinator parts)
    {
        _parts = parts;
        _awaitsCheckpoint = parts.IsPrimary && parts.Checkpoints.AreAllowed && parts.Sessions.Live is { IsPrimary: true };
        if (_awaitsCheckpoint) parts.Checkpoints.Request();
    }

    /// <summary>Says what the pump is to do now.</summary>
    /// <param name="elapsed">Monotonic, since the stop was asked for.</param>
    public CleanEndStep Next(TimeSpan elapsed)
    {
        _awaitsCheckpoint &= _parts.Checkpoints.IsDue && elapsed < s_checkpointMax;
        if (_awaitsCheckpoint) return CleanEndStep.Wait;
        if (!_parts.HasLog || !_parts.Log.MarkDue || elapsed >= s_markMax) return CleanEndStep.Over;
        return _parts.Log.AppendMark() ? CleanEndStep.Commit : CleanEndStep.Wait;
    }
}

/// <summary>Says what the pump of a stopping replica does before it asks again.</summary>
internal enum CleanEndStep
{
    /// <summary>It waits for a moment.</summary>
    Wait,

    /// <summary>It commits: the mark is appended.</summary>
    Commit,

    /// <summary>There is nothing more to wait for, and the process ends.</summary>
    Over,
}
