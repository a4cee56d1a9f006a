namespace Ambrosia;

/// <summary>Tickets of one destination and who waits for them. Guarded by the outbox's lock.</summary>
internal sealed class ImpulseChannel
{
    private readonly Queue<(ulong Ticket, LoggedImpulse Impulse)> awaited = new();
    private ulong last;
    private ulong logged;

    internal ulong NextTicket(LoggedImpulse? impulse)
    {
        last++;
        if (impulse is not null) awaited.Enqueue((last, impulse));
        return last;
    }

    internal List<LoggedImpulse> TakeLogged(ulong upTo)
    {
        if (upTo > last) throw new Protocol.ProtocolViolation("P5.9", $"impulse ticket {upTo} where {last} was the last one sent");
        logged = Math.Max(logged, upTo);
        var done = new List<LoggedImpulse>();
        while (awaited.TryPeek(out (ulong Ticket, LoggedImpulse Impulse) next) && next.Ticket <= logged)
            done.Add(awaited.Dequeue().Impulse);
        return done;
    }

    internal IEnumerable<LoggedImpulse> TakeAll()
    {
        while (awaited.TryDequeue(out (ulong Ticket, LoggedImpulse Impulse) next)) yield return next.Impulse;
    }
}
