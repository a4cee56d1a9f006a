using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace CRA.Authentication;

/// <summary>
/// Makes an authority and certificates of instances for development and tests: ECDSA P-256, both uses, the instance's name as the only
/// alternative name. Nothing is stored; texts are PEM. Whoever has an authority already uses that.
/// </summary>
public static class DevelopmentCertificates
{
    /// <summary>An authority, and by default an instance's certificate, are valid for this many days.</summary>
    public const int AuthorityDays = 3650, InstanceDays = 825;

    /// <summary>Certificates are valid from this long before they are made, since the clocks of two machines differ a little.</summary>
    private static readonly TimeSpan s_before = TimeSpan.FromMinutes(5);

    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1", ClientAuthentication = "1.3.6.1.5.5.7.3.2";
    private const int SerialBytes = 16;

    /// <summary>Makes a new authority and returns its certificate and its key.</summary>
    public static (string Certificate, string Key) MakeAuthority(string name, DateTimeOffset now, RandomBytes random)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = RequestOf(name, key);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: true, hasPathLengthConstraint: true, pathLengthConstraint: 0,
                critical: true));
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        using X509Certificate2 made = request.Create(
            request.SubjectName, X509SignatureGenerator.CreateForECDsa(key), (now - s_before).UtcDateTime,
            now.AddDays(AuthorityDays).UtcDateTime, Serial(random));
        return (made.ExportCertificatePem() + "\n", key.ExportPkcs8PrivateKeyPem() + "\n");
    }

    /// <summary>Makes a new certificate of an instance and returns it with its key.</summary>
    /// <param name="lifetime">Time from now for which it is valid, but never beyond the end of the authority's certificate.</param>
    /// <exception cref="LinkCertificateException">The authority's certificate and key do not make a pair.</exception>
    public static (string Certificate, string Key) MakeInstance(
        string name, string authority, string authorityKey, DateTimeOffset now, TimeSpan lifetime, RandomBytes random)
    {
        using X509Certificate2 issuer = ReadAuthority(authority, authorityKey);
        using ECDsa issuerKey = issuer.GetECDsaPrivateKey()
            ?? throw new LinkCertificateException(
                "the authority's key is none of an elliptic curve; make the authority with 'ambrosia certs'.");
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = RequestOf(name, key);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: false, hasPathLengthConstraint: false, pathLengthConstraint: 0,
                critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        request.CertificateExtensions.Add(
            new X509EnhancedKeyUsageExtension([new Oid(ServerAuthentication), new Oid(ClientAuthentication)], critical: false));
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(name);
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(
            X509AuthorityKeyIdentifierExtension.CreateFromCertificate(issuer, includeKeyIdentifier: true, includeIssuerAndSerial: false));
        DateTime from = Later((now - s_before).UtcDateTime, issuer.NotBefore.ToUniversalTime()),
            to = Earlier((now + lifetime).UtcDateTime, issuer.NotAfter.ToUniversalTime());
        using X509Certificate2 made = request.Create(issuer.SubjectName, X509SignatureGenerator.CreateForECDsa(issuerKey),
            from < to ? from : to, to, Serial(random));
        return (made.ExportCertificatePem() + "\n", key.ExportPkcs8PrivateKeyPem() + "\n");
    }

    private static CertificateRequest RequestOf(string name, ECDsa key)
    {
        var subject = new X500DistinguishedNameBuilder();
        subject.AddCommonName(name);
        var request = new CertificateRequest(subject.Build(), key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        return request;
    }

    private static X509Certificate2 ReadAuthority(string certificate, string key)
    {
        try
        {
            return X509Certificate2.CreateFromPem(certificate, key);
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            throw new LinkCertificateException($"the authority's certificate and key do not make a pair: {e.Message}", e);
        }
    }

    private static byte[] Serial(RandomBytes random)
    {
        byte[] serial = new byte[SerialBytes];
        random(serial);
        serial[0] = (byte)((serial[0] & 0x7F) | 0x40); // positive, and of the same length always
        return serial;
    }

    private static DateTime Later(DateTime a, DateTime b) => a > b ? a : b;

    private static DateTime Earlier(DateTime a, DateTime b) => a < b ? a : b;
}
