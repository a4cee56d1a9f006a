namespace Ambrosia.Coordinator.Framing;

/// <summary>
/// The connection below a link to a peer or below a client's session: what is known of it, and what may be asked of whoever runs it. It is
/// complete before the link is made, and owns nothing. Each action returns at once and may be called on any thread.
/// </summary>
/// <param name="seed">The connection's seed (P2.2).</param>
/// <param name="remote">The other end's address, for the operator.</param>
internal sealed class LinkTransport(uint seed, string remote)
{
    public uint Seed { get; } = seed;

    public string Remote { get; } = remote;

    /// <summary>The names that the other side's certificate is for. It is null where there are no certificates.</summary>
    public IReadOnlyList<string>? CertifiedNames { get; init; }

    /// <summary>
    /// A timestamp no later than the first byte from the other side. Null means that the connection begins when its link is made.
    /// </summary>
    public long? Begun { get; init; }

    /// <summary>Wakes the thread that sends.</summary>
    public Action Wake { get; init; } = static () => { };

    /// <summary>Ends the connection for the given reason.</summary>
    public Action<string> Close { get; init; } = static _ => { };

    /// <summary>Ends the connection for the given reason once what is queued, such as a Goodbye, has been sent.</summary>
    public Action<string> CloseAfterSending { get; init; } = static _ => { };
}
