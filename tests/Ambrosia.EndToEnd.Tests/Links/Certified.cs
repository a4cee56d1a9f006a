using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using CRA.Authentication;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Authorities of the tests, and replicas with certificates of them. Files lie beside the log directories.</summary>
internal static class Certified
{
    /// <summary>The authority that all of a test's coordinators believe.</summary>
    public static (string Certificate, string Key) Ours { get; } = MakeAuthority();

    public static (string Certificate, string Key) Foreign { get; } = MakeAuthority();

    private static (string Certificate, string Key) MakeAuthority() =>
        DevelopmentCertificates.MakeAuthority("test", DateTimeOffset.UtcNow, RandomNumberGenerator.Fill);

    /// <summary>A certificate and its key.</summary>
    /// <param name="begun">From when on it is valid; null: now.</param>
    public static (string Certificate, string Key) Make(
        string name, (string Certificate, string Key) authority, DateTimeOffset? begun = null, TimeSpan? lifetime = null) =>
            DevelopmentCertificates.MakeInstance(name, authority.Certificate, authority.Key, begun ?? DateTimeOffset.UtcNow,
                lifetime ?? TimeSpan.FromDays(1), RandomNumberGenerator.Fill);

    /// <summary>Gives the replica the three files, and its coordinator the options.</summary>
    public static void Give(Cluster cluster, Replica replica, (string Certificate, string Key) authority, string? name = null) =>
        GiveOwn(cluster, replica, Make(name ?? replica.Name, authority), Ours.Certificate);

    /// <param name="own">PEM: certificate, with its intermediate ones, and key.</param>
    public static void GiveOwn(Cluster cluster, Replica replica, (string Certificate, string Key) own, string authorities,
        bool authoritiesFirst = false)
    {
        string[] files = [.. new[] { "pem", "key", "ca" }.Select(end => Path.Combine(cluster.Root, $"{replica.Name}.{end}"))];
        (string, string)[] texts = [.. files.Zip([own.Certificate, own.Key, authorities])];
        foreach ((string file, string text) in authoritiesFirst ? texts.Reverse() : texts)
        {
            File.WriteAllText(file + ".new", text);
            File.SetUnixFileMode(file + ".new", UnixFileMode.UserRead | UnixFileMode.UserWrite);
            File.Move(file + ".new", file, overwrite: true);
        }
        if (!replica.Options.Contains("--tls-cert"))
            replica.Options.AddRange(["--tls-cert", files[0], "--tls-key", files[1], "--tls-ca", files[2]]);
    }

    private static readonly (X509Certificate2 Root, X509Certificate2 Between) s_authorities = MakeTwoAuthorities();

    /// <summary>PEM of the authority at the top of <see cref="MakeThroughIntermediate"/>.</summary>
    public static string Root => s_authorities.Root.ExportCertificatePem() + "\n";

    /// <summary>A certificate that an intermediate authority has signed, that authority's own, and the key.</summary>
    public static (string Own, string Between, string Key) MakeThroughIntermediate(string name)
    {
        using ECDsa ofBetween = s_authorities.Between.GetECDsaPrivateKey()!;
        (string certificate, string key) = Make(name, (s_authorities.Between.ExportCertificatePem(), ofBetween.ExportPkcs8PrivateKeyPem()));
        return (certificate, s_authorities.Between.ExportCertificatePem() + "\n", key);
    }

    private static (X509Certificate2, X509Certificate2) MakeTwoAuthorities()
    {
        DateTimeOffset begun = DateTimeOffset.UtcNow.AddDays(-1), ends = begun.AddDays(10);
        using ECDsa rootKey = ECDsa.Create(ECCurve.NamedCurves.nistP256), betweenKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        X509Certificate2 root = AuthorityRequest("root", rootKey).CreateSelfSigned(begun, ends);
        using X509Certificate2 between = AuthorityRequest("between", betweenKey)
            .Create(root, begun.AddHours(1), ends.AddHours(-1), RandomNumberGenerator.GetBytes(8));
        return (root, between.CopyWithPrivateKey(betweenKey));
    }

    private static CertificateRequest AuthorityRequest(string name, ECDsa key)
    {
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: true, hasPathLengthConstraint: false, pathLengthConstraint: 0,
                critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        return request;
    }
}
