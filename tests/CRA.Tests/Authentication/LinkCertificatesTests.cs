using Ambrosia.TestKit;
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

    /// <summary>What stands behind the own certificate is shown to peers, too, and is read at a start as at a renewal.</summary>
    [Theory]
    [InlineData("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")]
    [InlineData("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")]
    public void Read_OfABlockThatIsNoCertificate_SaysWhere(string more)
    {
        (string certificate, string key) = s_ours.Pem("ledger");
        Assert.Contains("behind the certificate in the file of --tls-cert", Wrong(certificate + more, key, s_ours.Certificate),
            StringComparison.Ordinal);
    }

    /// <summary>Whatever is in the three files, the answer is certificates or a reason.</summary>
    [Fact]
    public void Read_OfMutatedTexts_IsReadOrRefusedWithAReason()
    {
        int seed = Random.Shared.Next();
        var random = new Random(seed);
        (string certificate, string key) = s_ours.Pem("ledger");
        string[] whole = [certificate + s_ours.Certificate, key, s_ours.Certificate + certificate];
        string[] pieces =
            ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "\n", "AAAA", "=", "\0", "\ud800", "-----BEGIN PRIVATE KEY-----"];
        for (int i = 0; i < TestScale.Rounds(20_000); i++)
        {
            string[] texts = [.. whole];
            for (int n = random.Next(3); n >= 0; n--)
            {
                ref string text = ref texts[random.Next(3)];
                int at = random.Next(text.Length + 1), to = Math.Min(text.Length, at + random.Next(40));
                text = random.Next(3) switch
                {
                    0 => text.Insert(at, pieces[random.Next(pieces.Length)]),
                    1 => text.Remove(at, to - at),
                    _ => text[..at] + (char)random.Next(32, 127) + text[Math.Min(text.Length, at + 1)..],
                };
            }
            try
            {
                LinkCertificates.Read(texts[0], texts[1], texts[2], TimeProvider.System).WhatIsWrongFor("ledger");
            }
            catch (LinkCertificateException)
            {
                // It says what is wrong.
            }
            catch (Exception e)
            {
                Assert.Fail($"seed {seed}, round {i}: {e}\n{string.Join("\n---\n", texts)}");
            }
        }
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
