using System.Security.Cryptography.X509Certificates;
using Ambrosia.Protocol;

namespace CRA;

/// <summary>
/// What a certificate says, in words that an operator can act on. Texts from strangers are cut and cleaned: they reach terminals.
/// </summary>
internal static class CertificateJudgement
{
    private const int TextCharsMax = 200;
    private const int NamesToldMax = 8;

    /// <summary>Why a chain that was built does not convince; null: it does.</summary>
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

    /// <summary>The names that a certificate is for: its DNS alternative names, nothing else.</summary>
    public static IReadOnlyList<string> NamesOf(X509Certificate2 certificate) =>
        [.. certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().SelectMany(static names => names.EnumerateDnsNames())];

    public static string Described(IReadOnlyList<string> names) =>
        names.Count == 0 ? "no name"
        : string.Join(", ",
            names.Take(NamesToldMax).Select(static name => Names.IsValid(name) ? $"'{name}'" : "something that is no instance's name"));

    public static string Clean(string text) => new([.. text.Take(TextCharsMax).Select(static c => char.IsControl(c) ? '?' : c)]);
}
