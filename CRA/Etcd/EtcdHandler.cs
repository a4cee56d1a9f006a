using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using CRA.Catalog;

namespace CRA.Etcd;

/// <summary>
/// Makes what connects to an etcd: straight to its endpoints, without a proxy or a redirection, and with TLS where authorities are given.
/// </summary>
internal static class EtcdHandler
{
    /// <summary>An endpoint that is there accepts within this time; the next one is tried behind it.</summary>
    private static readonly TimeSpan s_connectMax = TimeSpan.FromSeconds(2);

    /// <exception cref="CatalogException">The certificates cannot be read, or ours is not valid now.</exception>
    public static SocketsHttpHandler Make(CatalogCredentials credentials, TimeProvider time)
    {
        var handler = new SocketsHttpHandler
        {
            ConnectTimeout = s_connectMax, UseProxy = false, AllowAutoRedirect = false, UseCookies = false, MaxConnectionsPerServer = 8,
        };
        if (credentials.Authorities is not { } authorities) return handler;
        handler.SslOptions = new SslClientAuthenticationOptions
        {
            CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck,
                    DisableCertificateDownloads = true,
                VerificationTime = time.GetUtcNow().LocalDateTime,
            },
            RemoteCertificateValidationCallback = static (_, certificate, chain, errors) =>
                errors == SslPolicyErrors.None ? true : throw new CatalogException(Refusal(certificate as X509Certificate2, chain, errors)),
        };
        // A connection is checked against the time of the process's start: what expires meanwhile is noticed by the store, and at the next
        // start.
        handler.SslOptions.CertificateChainPolicy.CustomTrustStore.AddRange(ReadAuthorities(authorities));
        if (credentials.Certificate is { } own) handler.SslOptions.ClientCertificates = [ReadOwn(own, credentials.Key!, time)];
        return handler;
    }

    private static X509Certificate2Collection ReadAuthorities(string text)
    {
        var authorities = new X509Certificate2Collection();
        try
        {
            authorities.ImportFromPem(text);
        }
        catch (CryptographicException e)
        {
            throw new CatalogException($"The authorities that {CatalogCredentials.AuthoritiesVariable} names cannot be read: {e.Message} Name a PEM file of one or more certificates.");
        }
        return authorities.Count > 0 ? authorities
            : throw new CatalogException($"The file that {CatalogCredentials.AuthoritiesVariable} names has no certificate in it. Name a PEM file of one or more certificates.");
    }

    private static X509Certificate2 ReadOwn(string certificate, string key, TimeProvider time)
    {
        X509Certificate2 own;
        try
        {
            own = X509Certificate2.CreateFromPem(certificate, key);
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            throw new CatalogException($"The certificate and the key that {CatalogCredentials.CertificateVariable} and {CatalogCredentials.KeyVariable} name do not make a pair: {e.Message} Both are PEM files, the key unencrypted.");
        }
        DateTime now = time.GetUtcNow().LocalDateTime;
        if (own.NotAfter < now)
            throw new CatalogException($"The certificate that {CatalogCredentials.CertificateVariable} names expired at {own.NotAfter.ToUniversalTime():u}: the store would refuse it. Renew it.");
        return own.NotBefore <= now ? own
            : throw new CatalogException($"The certificate that {CatalogCredentials.CertificateVariable} names is valid from {own.NotBefore.ToUniversalTime():u} on. Look at the clock of this machine, or give another one.");
    }

    /// <summary>Says why the store's certificate is refused, and what can be done.</summary>
    private static string Refusal(X509Certificate2? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (certificate is null) return "The store shows no certificate. Give it one, or unset " + CatalogCredentials.AuthoritiesVariable
            + " if it is to be reached unencrypted.";
        X509ChainStatusFlags flags = chain?.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, static (all, one) => all | one.Status)
            ?? default;
        if (flags.HasFlag(X509ChainStatusFlags.NotTimeValid))
            return $"The certificate of the store is valid from {certificate.NotBefore.ToUniversalTime():u} to {certificate.NotAfter.ToUniversalTime():u}, and not now. Renew it, or look at the clocks of both machines.";
        return errors.HasFlag(SslPolicyErrors.RemoteCertificateNameMismatch)
            ? "The certificate of the store is for another name than the one in the catalog's place. Write the name, or the address, that stands in its subject alternative names."
            : $"The certificate of the store is signed by none of the authorities that {CatalogCredentials.AuthoritiesVariable} names. Add the one that signed it.";
    }
}
