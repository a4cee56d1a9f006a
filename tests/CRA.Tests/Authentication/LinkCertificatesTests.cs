using CRA.Authentication;

namespace CRA.Tests;

public sealed class LinkCertificatesTests
{
    private static readonly Authority s_ours = new();

    private static string Wrong(string certificate, string key, string authorities) =>
        Assert.Throws<LinkCertificateException>(() => LinkCertificates.Read(certificate, key, authorities, TimeProvider.System)).Message;

    [Fact]
    public void Read_OfTextsThatDoNotFit_SaysWhichOption()
    {
        (string certificate, string key) = s_ours.Pem("ledger");
        (_, string otherKey) = s_ours.Pem("ledger");
        Assert.Contains("--tls-key", Wrong(certificate, otherKey, s_ours.Certificate), StringComparison.Ordinal);
        Assert.Contains("--tls-cert", Wrong("", key, s_ours.Certificate), StringComparison.Ordinal);
        Assert.Contains("--tls-key", Wrong(certificate, "nonsense", s_ours.Certificate), StringComparison.Ordinal);
        Assert.Contains("--tls-ca", Wrong(certificate, key, ""), StringComparison.Ordinal);
        Assert.Contains("--tls-ca", Wrong(certificate, key, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            StringComparison.Ordinal);
        Assert.Contains("not an authority's", Wrong(certificate, key, certificate), StringComparison.Ordinal);
    }

    [Fact]
    public void WhatIsWrongFor_TellsWhatPeersWouldSay()
    {
        Assert.Null(s_ours.For("ledger").WhatIsWrongFor("ledger"));
        string other = s_ours.For("ledger").WhatIsWrongFor("Ledger")!;
        Assert.Contains("'ledger', not for 'Ledger'", other, StringComparison.Ordinal);
        Assert.Contains("ambrosia certs --ca DIR --name Ledger", other, StringComparison.Ordinal);
        Assert.Contains("expired", s_ours.For("ledger", Authority.Now.AddMinutes(-4), TimeSpan.FromMinutes(3)).WhatIsWrongFor("ledger"),
            StringComparison.Ordinal);
        (string certificate, string key) = new Authority().Pem("ledger");
        Assert.Contains("none of our authorities",
            LinkCertificates.Read(certificate, key, s_ours.Certificate, TimeProvider.System).WhatIsWrongFor("ledger"),
            StringComparison.Ordinal);
    }

    [Fact]
    public void MakeInstance_WithTheKeyOfAnotherAuthority_IsRefused()
    {
        (_, string foreignKey) = DevelopmentCertificates.MakeAuthority("foreign", Authority.Now,
            System.Security.Cryptography.RandomNumberGenerator.Fill);
        Assert.Throws<LinkCertificateException>(() => DevelopmentCertificates.MakeInstance(
            "ledger", s_ours.Certificate, foreignKey, Authority.Now, TimeSpan.FromDays(1),
            System.Security.Cryptography.RandomNumberGenerator.Fill));
    }
}
