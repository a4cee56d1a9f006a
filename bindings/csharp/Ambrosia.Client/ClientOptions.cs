using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>How a caller outside connects, and how much it has under way.</summary>
public sealed record ClientOptions
{
    /// <summary>What it calls itself to operators: a name like an instance's; with certificates one that its certificate is for.</summary>
    public string Name { get; init; } = "client";

    /// <summary>How long <see cref="ImmortalClient.ConnectAsync"/> looks for the instance.</summary>
    public TimeSpan ConnectWithin { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Who answers queries.</summary>
    public QuerySource QueriesFrom { get; init; } = QuerySource.Any;

    /// <summary>How long a query looks for a replica that can answer it.</summary>
    public TimeSpan QueryWithin { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Messages that may be under way, queries among them; further ones wait before they are sent. From 1 on.</summary>
    public int RequestsMax { get; init; } = 1024;

    /// <summary>Bytes of messages that may be under way; one that is longer alone is sent alone.</summary>
    public long RequestBytesMax { get; init; } = 64L << 20;

    /// <summary>Longest answer taken, in bytes; no shorter than the instance's message limit.</summary>
    public uint MessageBytesMax { get; init; } = Frames.MessageBytesMaxDefault;

    /// <summary>PEM file of this caller's certificate; null: connections are not encrypted.</summary>
    public string? TlsCertificate { get; init; }

    /// <summary>PEM file of its private key.</summary>
    public string? TlsKey { get; init; }

    /// <summary>PEM file of the authorities that signed the instances' certificates.</summary>
    public string? TlsAuthorities { get; init; }

    /// <summary>Connections may leave the machine without being encrypted.</summary>
    public bool Insecure { get; init; }

    internal void Check()
    {
        if (!Names.IsValid(Name))
            throw new ArgumentException($"'{Name}' is no name of a caller: 1 to {Names.CharsMax} letters, digits, '_' and '-'.");
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(QueryWithin, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(RequestsMax, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(RequestBytesMax, 1);
        ArgumentOutOfRangeException.ThrowIfZero(MessageBytesMax);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MessageBytesMax, Frames.MessageBytesMaxLimit);
        int tls = (TlsCertificate is null ? 0 : 1) + (TlsKey is null ? 0 : 1) + (TlsAuthorities is null ? 0 : 1);
        if (tls is 1 or 2)
            throw new ArgumentException("TlsCertificate, TlsKey and TlsAuthorities belong together; give all three, or none.");
        if (tls == 3 && Insecure)
            throw new ArgumentException("Insecure and TlsCertificate exclude each other; with certificates every connection is encrypted.");
    }
}
