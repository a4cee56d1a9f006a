namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Tells links of outputs where several outboxes got something at once: one after another, on a thread of their own. What the app says to
/// one while the others have their turn goes with it, so that an app that speaks to many makes larger sends the more it says; load makes
/// the batch, nothing is held back. Owns who waits. Invariant: an outbox waits at most once. Adding: the thread that reads the
/// app. Telling: one thread.
/// </summary>
/// <param name="tell">Tells an outbox's link that there is something to send.</param>
internal sealed class OutputNotifier(Action<Outbox> tell)
{
    /// <summary>Fewer are told by whoever has read them, which saves an awaited call a change of threads.</summary>
    public const int OutboxesMin = 8;

    private readonly Lock _gate = new();
    private List<Outbox> _waiting = [], _telling = [];

    /// <summary>Somebody waits. Any thread.</summary>
    public bool HasAny { get { lock (_gate) return _waiting.Count > 0; } }

    public void Add(HashSet<Outbox> outboxes)
    {
        lock (_gate)
        {
            foreach (Outbox outbox in outboxes)
                if (outbox.TryJoinRound()) _waiting.Add(outbox);
        }
    }

    /// <summary>Tells all that wait now; false: nobody did.</summary>
    public bool TellAll()
    {
        lock (_gate) (_waiting, _telling) = (_telling, _waiting);
        if (_telling.Count == 0) return false;
        foreach (Outbox outbox in _telling)
        {
            outbox.LeaveRound(); // first: what comes from here on is told of again
            tell(outbox);
        }
        _telling.Clear();
        return true;
    }
}
