using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Ambrosia.Protocol;

namespace CRA.Authentication;

/// <summary>
/// The certificate of this side of a link and the authorities that it trusts about the other side (protocol P7.4). The object is immutable
/// and is replaced as a whole when the files change, so that a handshake sees one state of them. Any thread may use it.
/// </summary>
public sealed class LinkCertificates
{
    private readonly SslStreamCertificateContext _own;
    private readonly X509Certificate2 _certificate;
    private readonly X509Certificate2Collection _authorities;
    private readonly TimeProvider _time;

    private LinkCertificates(
        X509Certificate2 certificate, X509Certificate2Collection chain, X509Certificate2Collection authorities, TimeProvider time)
    {
        _certificate = certificate;
        _authorities = authorities;
        _time = time;
        _own = SslStreamCertificateContext.Create(certificate, chain, offline: true);
        Names = CertificateJudgement.NamesOf(certificate);
    }

    /// <summary>The names of the instances that the own certificate is for.</summary>
    public IReadOnlyList<string> Names { get; }

    /// <summary>
    /// Reads PEM texts: a certificate with its intermediate ones behind it, its private key, and one or more authorities.
    /// </summary>
    /// <exception cref="LinkCertificateException">One of them is not what it should be.</exception>
    public static LinkCertificates Read(string certificate, string key, string authorities, TimeProvider time)
    {
        X509Certificate2 own = Made(() => X509Certificate2.CreateFromPem(certificate, key),
            static why => $"the certificate of --tls-cert and the key of --tls-key do not make a pair: {why} Both are PEM files, the key unencrypted (-----BEGIN PRIVATE KEY-----).");
        X509Certificate2Collection chain = Made(() => ReadChain(certificate),
            static why => $"what stands behind the certificate in the file of --tls-cert cannot be read: {why} Behind the certificate itself there are those of intermediate authorities, or nothing.");
        X509Certificate2Collection trusted = Made(() => ReadAuthorities(authorities),
            static why => $"the authorities of --tls-ca cannot be read: {why} It is a PEM file of one or more certificates.");
        return Made(() => new LinkCertificates(own, chain, trusted, time),
            static why => $"the certificate of --tls-cert cannot be shown to peers: {why}");
    }

    /// <summary>
    /// Makes something of what is in the files. The system's libraries that read them promise no list of exceptions, and some bytes get far
    /// into them: each exception but our own is a reason.
    /// </summary>
    private static T Made<T>(Func<T> make, Func<string, string> wrong)
    {
        try
        {
            return make();
        }
        catch (Exception e) when (e is not LinkCertificateException)
        {
            throw new LinkCertificateException(wrong(e.Message), e);
        }
    }

    /// <summary>Reads the certificates behind the own one, by which peers get from it to an authority.</summary>
    private static X509Certificate2Collection ReadChain(string certificate)
    {
        var chain = new X509Certificate2Collection();
        chain.ImportFromPem(certificate);
        chain.RemoveAt(0);
        return chain;
    }

    private static X509Certificate2Collection ReadAuthorities(string text)
    {
        var authorities = new X509Certificate2Collection();
        authorities.ImportFromPem(text);
        if (authorities.Count == 0)
            throw new LinkCertificateException(
                "the file of --tls-ca has no certificate in it: it is a PEM file of the authority's certificate, or of several.");
        foreach (X509Certificate2 authority in authorities)
            if (authority.Extensions.OfType<X509BasicConstraintsExtension>().FirstOrDefault() is not { CertificateAuthority: true })
                throw new LinkCertificateException(
                    $"{authority.Subject} in the file of --tls-ca is not an authority's certificate (basic constraints). Give the one that signed the instances' certificates.");
        return authorities;
    }

    /// <summary>Says why peers would refuse an instance of this name that shows the own certificate; null if they would not.</summary>
    /// <exception cref="LinkCertificateException">The certificates cannot even be looked at.</exception>
    public string? WhatIsWrongFor(string instance) =>
        Made(() => Wrong(instance), static why => $"the certificate of --tls-cert cannot be looked at: {why}");

    private string? Wrong(string instance)
    {
        if (!Names.Contains(instance, StringComparer.Ordinal))
            return $"the certificate of --tls-cert is for {CertificateJudgement.Described(Names)}, not for '{instance}': its subject alternative names must have DNS:{instance}. 'ambrosia certs --ca DIR --name {instance}' makes one to begin with.";
        return WhatIsWrong(_certificate, _own.IntermediateCertificates, isServer: null) is { } wrong
            ? $"peers would refuse the certificate of --tls-cert: {wrong}. Renew it, or give the authority that signed it with --tls-ca."
            : null;
    }

    /// <summary>Returns the options of TLS on the accepting side.</summary>
    internal SslServerAuthenticationOptions ForAcceptor(PeerCertificate peer) => new()
    {
        ServerCertificateContext = _own,
        ClientCertificateRequired = true,
        EnabledSslProtocols = SslProtocols.Tls13,
        EncryptionPolicy = EncryptionPolicy.RequireEncryption,
        CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
        CertificateChainPolicy = Policy(isServer: false),
        RemoteCertificateValidationCallback = (_, certificate, chain, _) => peer.Judge(certificate as X509Certificate2, chain),
        AllowRenegotiation = false,
        // Our diallers never resume, and whoever does is checked again. Without this each connection would get a TLS context of 15 KiB.
        AllowTlsResume = true,
    };

    /// <summary>Returns the options of TLS on the dialling side. No name goes over the wire in the clear.</summary>
    internal SslClientAuthenticationOptions ForDialler(PeerCertificate peer) => new()
    {
        ClientCertificateContext = _own,
        TargetHost = "",
        EnabledSslProtocols = SslProtocols.Tls13,
        EncryptionPolicy = EncryptionPolicy.RequireEncryption,
        CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
        CertificateChainPolicy = Policy(isServer: true),
        RemoteCertificateValidationCallback = (_, certificate, chain, _) => peer.Judge(certificate as X509Certificate2, chain),
        AllowRenegotiation = false,
        AllowTlsResume = false,
    };

    private string? WhatIsWrong(X509Certificate2 certificate, IEnumerable<X509Certificate2> intermediates, bool? isServer)
    {
        using var chain = new X509Chain { ChainPolicy = Policy(isServer) };
        foreach (X509Certificate2 intermediate in intermediates) chain.ChainPolicy.ExtraStore.Add(intermediate);
        chain.Build(certificate);
        return CertificateJudgement.WhatIsWrong(chain);
    }

    private X509ChainPolicy Policy(bool? isServer)
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
            VerificationTime = _time.GetUtcNow().LocalDateTime,
            VerificationTimeIgnored = false,
        };
        policy.CustomTrustStore.AddRange(_authorities);
        if (isServer is { } server) policy.ApplicationPolicy.Add(new Oid(server ? "1.3.6.1.5.5.7.3.1" : "1.3.6.1.5.5.7.3.2"));
        return policy;
    }
}

/// <summary>
/// Certificates cannot be used. The message says what is wrong, why, and how to mend it. At a start it means exit code 2.
/// </summary>
public sealed class LinkCertificateException(string message, Exception? inner = null) : Exception(message, inner);
