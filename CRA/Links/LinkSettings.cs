using System.Runtime.ExceptionServices;
using CRA.Authentication;
using CRA.Streams;

namespace CRA.Links;

/// <summary>The settings that listeners and diallers share. They are immutable.</summary>
/// <param name="Secret">The catalog's secret, 32 bytes (P7.2).</param>
/// <param name="Time">Timestamps for deadlines and heartbeats.</param>
/// <param name="Random">Source of nonces; must be fit for cryptography.</param>
public sealed record LinkSettings(ReadOnlyMemory<byte> Secret, TimeProvider Time, RandomBytes Random)
{
    /// <summary>Addresses other than loopback may be used unencrypted.</summary>
    public bool Insecure { get; init; }

    /// <summary>
    /// Gives the certificates in force, at each handshake and on any thread; null if links are not encrypted.
    /// </summary>
    public Func<LinkCertificates>? Certificates { get; init; }

    /// <summary>Addresses that can be reached from other machines may be used.</summary>
    public bool MayLeaveTheMachine => Insecure || Certificates is not null;

    /// <summary>A connection may take this long until frames begin (P7.3), a dial included.</summary>
    public TimeSpan AuthenticationMax { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A listener has at most this many unauthenticated connections; one more closes the oldest.</summary>
    public int UnauthenticatedMax { get; init; } = 256;

    /// <summary>One remote address has at most this many unauthenticated connections; one more closes its oldest.</summary>
    public int UnauthenticatedPerAddressMax { get; init; } = 128;

    /// <summary>A listener has at most this many authenticated connections; one more is closed. Each has two threads.</summary>
    public int ConnectionsMax { get; init; } = 1024;

    /// <summary>The bound over what all connections hold of frames larger than what each has of its own, 512 KiB.</summary>
    public SharedBytes Receiving { get; init; } = new(1L << 30);

    /// <summary>
    /// The times of P6.9. Other values are for tests, which neither wait for seconds nor let a heartbeat hide a lost wake.
    /// </summary>
    internal TimeSpan HeartbeatAfter { get; init; } = Liveness.HeartbeatAfter;

    internal TimeSpan DeadAfter { get; init; } = Liveness.DeadAfter;

    /// <summary>
    /// Hears of an exception that no caller of the links has named, with the name of the thread that it has left: a fault of ours. Null:
    /// the runtime hears of it, and ends the process.
    /// </summary>
    public Action<Exception, string>? Faulted { get; init; }

    /// <summary>Hands on what has left a thread of the links.</summary>
    internal void Fell(Exception fault, string thread)
    {
        if (Faulted is null) ExceptionDispatchInfo.Throw(fault);
        else Faulted(fault, thread);
    }

    internal Liveness NewLiveness(long begun) => new(Time.TimestampFrequency, begun, HeartbeatAfter, DeadAfter);
}
