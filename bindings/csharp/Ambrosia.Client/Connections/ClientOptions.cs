using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>The options of a client: how it connects, and how much it may have in flight. They are immutable.</summary>
public sealed record ClientOptions
{
    /// <summary>
    /// The name by which operators know the client. It has the form of an instance's name; with certificates it is one that its certificate
    /// is for.
    /// </summary>
    public string Name { get; init; } = "client";

    /// <summary><see cref="ImmortalClient.ConnectAsync"/> looks for the instance this long.</summary>
    public TimeSpan ConnectWithin { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>The replicas that answer queries.</summary>
    public QuerySource QueriesFrom { get; init; } = QuerySource.Any;

    /// <summary>A query looks this long for a replica that can answer it.</summary>
    public TimeSpan QueryWithin { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// At most this many messages, queries among them, are in flight; further ones wait before they are sent. It is at least 1.
    /// </summary>
    public int RequestsMax { get; init; } = 1024;

    /// <summary>At most this many bytes of messages are in flight; a message that is longer goes alone.</summary>
    public long RequestBytesMax { get; init; } = 64L << 20;

    /// <summary>The longest answer that is accepted, in bytes. It must be no shorter than the instance's message limit.</summary>
    public uint MessageBytesMax { get; init; } = SizeLimits.MessageBytesMaxDefault;

    /// <summary>The PEM file of this client's certificate; null if connections are not encrypted.</summary>
    public string? TlsCertificate { get; init; }

    /// <summary>The PEM file of the certificate's private key.</summary>
    public string? TlsKey { get; init; }

    /// <summary>The PEM file of the authorities that signed the instances' certificates.</summary>
    public string? TlsAuthorities { get; init; }

    /// <summary>Connections may leave the machine without being encrypted.</summary>
    public bool Insecure { get; init; }

    /// <summary>Checks the options.</summary>
    /// <exception cref="ArgumentException">One of them is out of its range, or two exclude each other.</exception>
    internal void Check()
    {
        if (!Names.IsValid(Name))
            throw new ArgumentException($"'{Name}' is no name of a caller: 1 to {Names.CharsMax} letters, digits, '_' and '-'.");
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(QueryWithin, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(RequestsMax, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(RequestBytesMax, 1);
        ArgumentOutOfRangeException.ThrowIfZero(MessageBytesMax);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MessageBytesMax, SizeLimits.MessageBytesMaxLimit);
        int tls = (TlsCertificate is null ? 0 : 1) + (TlsKey is null ? 0 : 1) + (TlsAuthorities is null ? 0 : 1);
        if (tls is 1 or 2)
            throw new ArgumentException("TlsCertificate, TlsKey and TlsAuthorities belong together; give all three, or none.");
        if (tls == 3 && Insecure)
            throw new ArgumentException("Insecure and TlsCertificate exclude each other; with certificates every connection is encrypted.");
    }
}
