using System.Security.Cryptography.X509Certificates;
using Ambrosia.Protocol;

namespace CRA.Authentication;

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
