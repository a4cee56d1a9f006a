using System.Security.Cryptography.X509Certificates;
using Ambrosia.Protocol;

namespace CRA;

/// <summary>What one handshake learns of the other side's certificate. Used by the thread of the handshake.</summary>
/// <param name="expected">The instance that was dialled; null on the accepting side, where the hello will say (P7.5).</param>
internal sealed class PeerCertificate(string? expected)
{
    /// <summary>Why it was refused; null: it was not.</summary>
    public ProtocolViolation? Refusal { get; private set; }

    /// <summary>The instances that it is for. Defined when it was accepted.</summary>
    public IReadOnlyList<string> Names { get; private set; } = [];

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
