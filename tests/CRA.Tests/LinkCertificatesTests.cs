namespace CRA.Tests;

public sealed class LinkCertificatesTests
{
    private static readonly Authority Ours = new();

    private static string Wrong(string certificate, string key, string authorities) =>
        Assert.Throws<LinkCertificateException>(() => LinkCertificates.Read(certificate, key, authorities, TimeProvider.System)).Message;

    [Fact]
    public void Read_OfTextsThatDoNotFit_SaysWhichOption()
    {
        (string certificate, string key) = Ours.Pem("ledger");
        (_, string otherKey) = Ours.Pem("ledger");
        Assert.Contains("--tls-key", Wrong(certificate, otherKey, Ours.Certificate), StringComparison.Ordinal);
        Assert.Contains("--tls-cert", Wrong("", key, Ours.Certificate), StringComparison.Ordinal);
        Assert.Contains("--tls-key", Wrong(certificate, "nonsense", Ours.Certificate), StringComparison.Ordinal);
        Assert.Contains("--tls-ca", Wrong(certificate, key, ""), StringComparison.Ordinal);
        Assert.Contains("--tls-ca", Wrong(certificate, key, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            StringComparison.Ordinal);
        Assert.Contains("not an authority's", Wrong(certificate, key, certificate), StringComparison.Ordinal);
    }

    [Fact]
    public void WhatIsWrongFor_TellsWhatPeersWouldSay()
    {
        Assert.Null(Ours.For("ledger").WhatIsWrongFor("ledger"));
        string other = Ours.For("ledger").WhatIsWrongFor("Ledger")!;
        Assert.Contains("'ledger', not for 'Ledger'", other, StringComparison.Ordinal);
        Assert.Contains("ambrosia certs --ca DIR --name Ledger", other, StringComparison.Ordinal);
        Assert.Contains("expired", Ours.For("ledger", Authority.Now.AddMinutes(-4), TimeSpan.FromMinutes(3)).WhatIsWrongFor("ledger"),
            StringComparison.Ordinal);
        (string certificate, string key) = new Authority().Pem("ledger");
        Assert.Contains("none of our authorities",
            LinkCertificates.Read(certificate, key, Ours.Certificate, TimeProvider.System).WhatIsWrongFor("ledger"),
            StringComparison.Ordinal);
    }

    [Fact]
    public void MakeInstance_WithTheKeyOfAnotherAuthority_IsRefused()
    {
        (_, string foreignKey) = DevelopmentCertificates.MakeAuthority("foreign", Authority.Now,
            System.Security.Cryptography.RandomNumberGenerator.Fill);
        Assert.Throws<LinkCertificateException>(() => DevelopmentCertificates.MakeInstance(
            "ledger", Ours.Certificate, foreignKey, Authority.Now, TimeSpan.FromDays(1),
            System.Security.Cryptography.RandomNumberGenerator.Fill));
    }
}
