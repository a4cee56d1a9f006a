using System.Security.Cryptography;
using Ambrosia.Protocol;
using CRA.Authentication;
using CRA.Catalog;
using CRA.Links;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.Client.Connections;

/// <summary>
/// Looks an instance up in the catalog and dials one of its replicas: the primary, or for queries alone any one of the secondaries.
/// Thread: the pump's.
/// </summary>
internal sealed class InstanceDialler(string directory, InstanceId instance, ClientOptions options, bool toPrimary)
{
    private readonly DirectoryCatalog _catalog =
        new(new ReadOnlyCatalogFiles(directory), RandomNumberGenerator.Fill, NullLogger.Instance);

    /// <summary>Returns a connection to a replica; null when the catalog lists none that would do.</summary>
    /// <exception cref="Exception">The catalog or the replica is out of reach, as <see cref="IsTrouble"/> tells.</exception>
    internal LinkConnection? TryDial(CancellationToken stop)
    {
        CatalogEntry? entry = _catalog.Find(instance);
        ReplicaEntry? replica = entry is null ? null : Choose(entry);
        return replica is null ? null : LinkDialler.Dial(replica.Address, Settings(), stop, instance.Name);
    }

    /// <summary>Says whether an exception means that the instance is out of reach for the moment; then it is worth trying again.</summary>
    internal static bool IsTrouble(Exception e) =>
        e is LinkUnreachableException or LinkAddressException or ProtocolViolation or IOException or UnauthorizedAccessException
            or CatalogException or LinkCertificateException or OperationCanceledException;

    /// <summary>Chooses the primary, or any one of the secondaries, so that many clients share them.</summary>
    private ReplicaEntry? Choose(CatalogEntry entry)
    {
        if (toPrimary) return entry.Replicas.FirstOrDefault(each => each.Role == "primary" && each.Epoch == entry.Epoch);
        ReplicaEntry[] others = [.. entry.Replicas.Where(static each => each.Role == "secondary")];
        return others.Length == 0 ? null : others[Random.Shared.Next(others.Length)];
    }

    private LinkSettings Settings() => new(_catalog.Secret, TimeProvider.System, RandomNumberGenerator.Fill)
    {
        Insecure = options.Insecure,
        Certificates = options.TlsCertificate is null ? null : ReadCertificates,
    };

    /// <summary>Reads the certificates anew for each connection, so that renewed ones are in force with the next.</summary>
    private LinkCertificates ReadCertificates() =>
        LinkCertificates.Read(File.ReadAllText(options.TlsCertificate!), File.ReadAllText(options.TlsKey!),
            File.ReadAllText(options.TlsAuthorities!), TimeProvider.System);
}
