namespace CRA;

/// <summary>What listeners and diallers need.</summary>
/// <param name="Secret">The catalog's secret, 32 bytes (P7.2).</param>
/// <param name="Time">Timestamps for deadlines and heartbeats.</param>
/// <param name="Random">Source of nonces; must be fit for cryptography.</param>
public sealed record LinkSettings(ReadOnlyMemory<byte> Secret, TimeProvider Time, RandomBytes Random)
{
    /// <summary>Allows addresses other than loopback, unencrypted.</summary>
    public bool Insecure { get; init; }

    /// <summary>The certificates in force, asked for at each handshake; null: links are not encrypted. Any thread.</summary>
    public Func<LinkCertificates>? Certificates { get; init; }

    /// <summary>Addresses that can be reached from other machines may be used.</summary>
    public bool MayLeaveTheMachine => Insecure || Certificates is not null;

    /// <summary>How long a connection may take until frames begin (P7.3), a dial included.</summary>
    public TimeSpan AuthenticationMax { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Unauthenticated connections of a listener; one more closes the oldest.</summary>
    public int UnauthenticatedMax { get; init; } = 256;

    /// <summary>Unauthenticated connections of one remote address; one more closes that address's oldest.</summary>
    public int UnauthenticatedPerAddressMax { get; init; } = 128;

    /// <summary>Authenticated connections of a listener; one more is closed. Each has two threads.</summary>
    public int ConnectionsMax { get; init; } = 1024;

    // P6.9's times; other values are for tests, which neither wait for seconds nor let a heartbeat hide a lost wake.
    internal TimeSpan HeartbeatAfter { get; init; } = Liveness.HeartbeatAfter;

    internal TimeSpan DeadAfter { get; init; } = Liveness.DeadAfter;

    internal Liveness NewLiveness(long begun) => new(Time.TimestampFrequency, begun, HeartbeatAfter, DeadAfter);
}
