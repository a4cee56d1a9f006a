using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using CRA.Etcd;
using Microsoft.Extensions.Logging.Abstractions;

namespace CRA.Tests;

/// <summary>An etcd that wants TLS and our certificate, and certificates that will not do, on either side.</summary>
public sealed class EtcdTlsTests : IDisposable
{
    private static readonly InstanceId s_counter = new("counter");
    private static readonly DateTimeOffset s_now = DateTimeOffset.UtcNow;

    private readonly TestFolder _folder = new();
    private readonly X509Certificate2 _authority = NewAuthority("CN=authority");

    public EtcdTlsTests() => Directory.CreateDirectory(_folder.Path);

    public void Dispose()
    {
        _authority.Dispose();
        _folder.Dispose();
    }

    [EtcdFact]
    public void Catalog_OverTls_WantsAndShowsCertificates()
    {
        using EtcdServers etcd = Start(_authority, "127.0.0.1", days: 1);
        (string own, string key) = Pem(_authority, "client", days: 1);
        StoreCatalog catalog = Open(etcd, _authority, own, key);
        Deadline.Await(() => EtcdCatalogTests.IsPublished(catalog, 1), "a publication over TLS");
        Assert.Equal(CatalogContract.Entry(1), catalog.Find(s_counter));
        Assert.ThrowsAny<IOException>(() => Open(etcd, _authority, null, null).Find(s_counter)); // the store wants to see one

        using X509Certificate2 other = NewAuthority("CN=other");
        Assert.Contains("signed by none", Refusal(Open(etcd, other, own, key)), StringComparison.Ordinal);
        (string foreign, string foreignKey) = Pem(other, "client", days: 1);
        Assert.ThrowsAny<IOException>(() => Open(etcd, _authority, foreign, foreignKey).Find(s_counter));
    }

    [EtcdFact]
    public void Store_WithACertificateOfAnotherName_IsRefused()
    {
        using EtcdServers etcd = Start(_authority, "10.9.8.7", days: 1);
        (string own, string key) = Pem(_authority, "client", days: 1);
        Assert.Contains("another name", Refusal(Open(etcd, _authority, own, key)), StringComparison.Ordinal);
    }

    [EtcdFact]
    public void Store_WithAnExpiredCertificate_IsRefused()
    {
        using EtcdServers etcd = Start(_authority, "127.0.0.1", days: -1);
        (string own, string key) = Pem(_authority, "client", days: 1);
        Assert.Contains("Renew it", Refusal(Open(etcd, _authority, own, key)), StringComparison.Ordinal);
    }

    [Fact]
    public void Own_CertificateThatHasExpired_IsRefusedBeforeAnythingIsAsked()
    {
        (string own, string key) = Pem(_authority, "client", days: -1);
        string message =
            Assert.Throws<CatalogException>(() => EtcdHandler.Make(Credentials(_authority, own, key), TimeProvider.System)).Message;
        Assert.Contains("expired at", message, StringComparison.Ordinal);
        Assert.Contains(CatalogCredentials.CertificateVariable, message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("rubbish", CatalogCredentials.AuthoritiesVariable)]
    [InlineData("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", CatalogCredentials.AuthoritiesVariable)]
    public void Authorities_ThatAreNone_AreRefused(string text, string said)
    {
        CatalogCredentials credentials =
            CatalogCredentials.Read(static name => name == CatalogCredentials.AuthoritiesVariable ? "ca" : null, (_, _) => text);
        Assert.Contains(said, Assert.Throws<CatalogException>(() => EtcdHandler.Make(credentials, TimeProvider.System)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Own_KeyOfAnotherCertificate_IsRefused()
    {
        (string own, _) = Pem(_authority, "client", days: 1);
        (_, string key) = Pem(_authority, "client", days: 1);
        Assert.Contains("do not make a pair",
            Assert.Throws<CatalogException>(() => EtcdHandler.Make(Credentials(_authority, own, key), TimeProvider.System)).Message,
                StringComparison.Ordinal);
    }

    private static string Refusal(StoreCatalog catalog)
    {
        string? said = null;
        Deadline.Await(() =>
        {
            try
            {
                catalog.Find(s_counter);
            }
            catch (CatalogException e)
            {
                said = e.Message;
            }
            catch (IOException)
            {
                // it has not begun to listen
            }
            return said is not null;
        }, "a refusal");
        return said!;
    }

    private EtcdServers Start(X509Certificate2 authority, string address, int days)
    {
        (string certificate, string key) = Pem(authority, address, days);
        File.WriteAllText(Path.Combine(_folder.Path, "ca"), authority.ExportCertificatePem());
        File.WriteAllText(Path.Combine(_folder.Path, "cert"), certificate);
        File.WriteAllText(Path.Combine(_folder.Path, "key"), key);
        return new EtcdServers(1, $"--cert-file={_folder.Path}/cert", $"--key-file={_folder.Path}/key",
            $"--trusted-ca-file={_folder.Path}/ca", "--client-cert-auth");
    }

    private static StoreCatalog Open(EtcdServers etcd, X509Certificate2 authority, string? own, string? key)
    {
        CatalogPlace place = CatalogPlace.Parse($"etcd://{etcd.Endpoints}/shop");
        return new StoreCatalog(
            new EtcdStore(place, EtcdClient.Open(place, Credentials(authority, own, key), TimeProvider.System)),
            new CatalogAccess(static _ => throw new InvalidOperationException(), RandomNumberGenerator.Fill, TimeProvider.System,
                NullLogger.Instance));
    }

    private static CatalogCredentials Credentials(X509Certificate2 authority, string? own, string? key) => CatalogCredentials.Read(
        name => name == CatalogCredentials.AuthoritiesVariable
            || (own is not null && name is CatalogCredentials.CertificateVariable or CatalogCredentials.KeyVariable)
            ? name : null,
        (name, _) => name switch
        {
            CatalogCredentials.AuthoritiesVariable => authority.ExportCertificatePem(), CatalogCredentials.CertificateVariable => own!, _ =>
                key!,
        });

    private static X509Certificate2 NewAuthority(string name)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(name, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        return request.CreateSelfSigned(s_now.AddDays(-10), s_now.AddDays(10));
    }

    /// <param name="name">An IP address for a server, or a word for a client.</param>
    /// <param name="days">How long it is valid from now on; negative: it has expired so long ago.</param>
    private static (string Certificate, string Key) Pem(X509Certificate2 authority, string name, int days)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid("1.3.6.1.5.5.7.3.1"), new Oid("1.3.6.1.5.5.7.3.2")],
            false));
        var names = new SubjectAlternativeNameBuilder();
        if (IPAddress.TryParse(name, out IPAddress? address)) names.AddIpAddress(address);
        else names.AddDnsName(name);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 made = request.Create(authority, s_now.AddDays(-5), s_now.AddDays(days), RandomNumberGenerator.GetBytes(8));
        return (made.ExportCertificatePem(), key.ExportPkcs8PrivateKeyPem());
    }
}
