namespace CRA.Links;

/// <summary>
/// Keeps the timing of protocol P6.9: a heartbeat is due after 1 s in which nothing was sent, and a connection is dead after 5 s in which
/// nothing arrived. It is told the time. <see cref="Sent"/> with <see cref="UntilHeartbeat"/>, and <see cref="Heard"/> with
/// <see cref="UntilDead"/>, are two halves that share nothing, so each may belong to its own thread.
/// </summary>
internal sealed class Liveness
{
    /// <summary>The times of P6.9.</summary>
    public static readonly TimeSpan HeartbeatAfter = TimeSpan.FromSeconds(1);
    public static readonly TimeSpan DeadAfter = TimeSpan.FromSeconds(5);

    private readonly long _frequency;
    private readonly TimeSpan _heartbeatAfter;
    private readonly TimeSpan _deadAfter;
    private long _sent;
    private long _heard;

    /// <param name="frequency">Number of timestamps a second (<see cref="TimeProvider.TimestampFrequency"/>).</param>
    /// <param name="begun">Timestamp of the connection's beginning, which counts as sent and heard.</param>
    public Liveness(long frequency, long begun) : this(frequency, begun, HeartbeatAfter, DeadAfter)
    {
    }

    internal Liveness(long frequency, long begun, TimeSpan heartbeatAfter, TimeSpan deadAfter)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(frequency);
        _frequency = frequency;
        _heartbeatAfter = heartbeatAfter;
        _deadAfter = deadAfter;
        _sent = begun;
        _heard = begun;
    }

    /// <summary>Remembers that something was sent now.</summary>
    public void Sent(long now) => _sent = now;

    /// <summary>Remembers that something arrived now.</summary>
    public void Heard(long now) => _heard = now;

    /// <summary>Returns the time until a heartbeat is due; zero when it is.</summary>
    public TimeSpan UntilHeartbeat(long now) => Left(_heartbeatAfter, _sent, now);

    /// <summary>Returns the time until the other side counts as dead; zero when it does.</summary>
    public TimeSpan UntilDead(long now) => Left(_deadAfter, _heard, now);

    private TimeSpan Left(TimeSpan limit, long since, long now)
    {
        double seconds = (now - since) / (double)_frequency;
        double left = limit.TotalSeconds - seconds;
        // Never above the limit: a timestamp that goes back must not stretch it.
        return left <= 0 ? TimeSpan.Zero : TimeSpan.FromSeconds(Math.Min(left, limit.TotalSeconds));
    }
}
