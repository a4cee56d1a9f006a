using System.Security.Cryptography.X509Certificates;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Texts;

namespace CRA.Authentication;

/// <summary>
/// Says in words that an operator can act on what a certificate is for and what is wrong with it. Texts from the other side reach
/// terminals, so they are cut and cleaned.
/// </summary>
internal static class CertificateJudgement
{
    private const int TextCharsMax = 200;
    private const int NamesToldMax = 8;

    /// <summary>Says why a chain that was built is not trusted; null if it is trusted.</summary>
    public static string? WhatIsWrong(X509Chain? chain)
    {
        if (chain is null || chain.ChainElements.Count == 0) return "it has no chain; make one with 'ambrosia certs'";
        X509ChainStatusFlags flags = chain.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, static (all, status) => all | status.Status);
        if (flags == X509ChainStatusFlags.NoError) return null;
        if ((flags & (X509ChainStatusFlags.PartialChain | X509ChainStatusFlags.UntrustedRoot)) != 0)
            return "none of our authorities signed it; give it a certificate of theirs, or its authority to --tls-ca here";
        if (flags.HasFlag(X509ChainStatusFlags.NotTimeValid)) return WhatIsWrongWithTime(chain);
        if (flags.HasFlag(X509ChainStatusFlags.NotValidForUsage))
            return "it is not meant for this use (its extended key usage needs both serverAuth and clientAuth)";
        return Clean(string.Join("; ", chain.ChainStatus.Select(static status => status.StatusInformation.Trim())));
    }

    private static string WhatIsWrongWithTime(X509Chain chain)
    {
        foreach (X509ChainElement element in chain.ChainElements)
            if (element.Certificate.NotAfter < chain.ChainPolicy.VerificationTime)
                return $"{Clean(element.Certificate.Subject)} expired at {element.Certificate.NotAfter.ToUniversalTime():u}; renew it, the files are read again at once";
        return "it is not valid yet; look at the clocks of both machines";
    }

    /// <summary>Returns the names that a certificate is for, which are its DNS alternative names and nothing else.</summary>
    public static IReadOnlyList<string> NamesOf(X509Certificate2 certificate) =>
        [.. certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().SelectMany(static names => names.EnumerateDnsNames())];

    /// <summary>Lists names for a message, at most eight; a text that is no instance's name is not repeated.</summary>
    public static string Described(IReadOnlyList<string> names) =>
        names.Count == 0 ? "no name"
        : string.Join(", ",
            names.Take(NamesToldMax).Select(static name => Names.IsValid(name) ? $"'{name}'" : "something that is no instance's name"));

    /// <summary>Cuts a text of the other side to 200 characters and makes it harmless.</summary>
    public static string Clean(string text) => HarmlessText.Beginning(text, TextCharsMax);
}

/// <summary>Checks the other side's certificate in one handshake and keeps what it learned. The thread of the handshake uses it.</summary>
/// <param name="expected">Instance that was dialled; null on the accepting side, where the hello will say it (P7.5).</param>
internal sealed class PeerCertificate(string? expected)
{
    /// <summary>The reason for which the certificate was refused; null if it was not.</summary>
    public ProtocolViolation? Refusal { get; private set; }

    /// <summary>The instances that the certificate is for; defined once it was accepted.</summary>
    public IReadOnlyList<string> Names { get; private set; } = [];

    /// <summary>Checks the certificate and returns whether it is accepted.</summary>
    public bool Judge(X509Certificate2? certificate, X509Chain? chain)
    {
        Refusal = certificate is null
            ? new ProtocolViolation("P7.4", "the other side showed no certificate; give it --tls-cert, --tls-key and --tls-ca")
            : RefusalOf(certificate, chain);
        return Refusal is null;
    }

    private ProtocolViolation? RefusalOf(X509Certificate2 certificate, X509Chain? chain)
    {
        if (CertificateJudgement.WhatIsWrong(chain) is { } wrong)
            return new ProtocolViolation("P7.4", $"the other side's certificate was refused: {wrong}");
        Names = CertificateJudgement.NamesOf(certificate);
        return expected is null || Names.Contains(expected, StringComparer.Ordinal) ? null
            : new ProtocolViolation("P7.5",
                $"the other side's certificate is for {CertificateJudgement.Described(Names)}, and '{expected}' was called; give it one with its own name, or mend its address in the catalog");
    }
}
