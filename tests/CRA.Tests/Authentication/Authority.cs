using System.Security.Cryptography;
using CRA.Authentication;
using CRA.Links;

namespace CRA.Tests;

/// <summary>Owns an authority, and makes the certificates that a test asks for.</summary>
internal sealed class Authority
{
    public static readonly DateTimeOffset Now = DateTimeOffset.UtcNow;

    private readonly string _key;

    public Authority(DateTimeOffset? made = null) =>
        (Certificate, _key) = DevelopmentCertificates.MakeAuthority("test authority", made ?? Now, RandomNumberGenerator.Fill);

    public string Certificate { get; }

    public (string Certificate, string Key) Pem(string name, DateTimeOffset? made = null, TimeSpan? lifetime = null) =>
        DevelopmentCertificates.MakeInstance(name, Certificate, _key, made ?? Now, lifetime ?? TimeSpan.FromDays(1),
            RandomNumberGenerator.Fill);

    // Makes certificates of this authority that trust this one and others.
    public LinkCertificates For(string name, DateTimeOffset? made = null, TimeSpan? lifetime = null, params Authority[] others)
    {
        (string certificate, string key) = Pem(name, made, lifetime);
        return LinkCertificates.Read(certificate, key, string.Concat(others.Prepend(this).Select(a => a.Certificate)), TimeProvider.System);
    }

    public LinkSettings Settings(string name) => SettingsOf(For(name));

    public static LinkSettings SettingsOf(LinkCertificates certificates) =>
        LoopbackLinks.Settings with { Certificates = () => certificates };
}
