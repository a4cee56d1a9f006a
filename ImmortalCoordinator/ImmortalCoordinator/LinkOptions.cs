using System.Net;

namespace ImmortalCoordinator;

/// <summary>The options about links to peers, and what is wrong with them together: what leaves the machine is encrypted, or allowed in words.</summary>
internal static class LinkOptions
{
    public static readonly CommandOption Listen = new("--listen", "Address and port for peers; port 0: any free one.") { Value = "ADDR:PORT", Default = "127.0.0.1:0" };
    public static readonly CommandOption Advertise = new("--advertise", "Address and port that peers dial, where it is not the one listened on.") { Value = "ADDR:PORT" };
    public static readonly CommandOption Certificate = new("--tls-cert", "Certificate of this instance, PEM; links then use TLS 1.3.") { Value = "FILE", WhatIsWrong = static v => Empty("--tls-cert", v) };
    public static readonly CommandOption Key = new("--tls-key", "Its private key, PEM, mode 0600.") { Value = "FILE", WhatIsWrong = static v => Empty("--tls-key", v) };
    public static readonly CommandOption Authorities = new("--tls-ca", "Authorities that signed the peers' certificates, PEM.") { Value = "FILE", WhatIsWrong = static v => Empty("--tls-ca", v) };
    public static readonly CommandOption Insecure = new("--insecure", "Links to other machines without TLS, on a network that is trusted.");

    public static readonly CommandOption[] All = [Listen, Advertise, Certificate, Key, Authorities, Insecure];

    private const string Encrypt = "encrypt with --tls-cert, --tls-key and --tls-ca ('ambrosia certs' makes certificates to begin with), or allow it with --insecure on a network that you trust";

    /// <summary>What is wrong with them together; null: nothing.</summary>
    public static string? WhatIsWrong(GivenOptions given)
    {
        int tls = (given.Has(Certificate) ? 1 : 0) + (given.Has(Key) ? 1 : 0) + (given.Has(Authorities) ? 1 : 0);
        bool isInsecure = given.Has(Insecure);
        if (tls is 1 or 2) return "--tls-cert, --tls-key and --tls-ca belong together; give all three";
        if (tls == 3 && isInsecure) return "--insecure and --tls-cert exclude each other; with certificates every link is encrypted";
        if (!given.Has(Listen) && !given.Has(Advertise)) return null;
        string listen = given.GetNeeded(Listen);
        string? advertise = given.Get(Advertise);
        bool mayLeave = tls == 3 || isInsecure;
        return WhatIsWrongWith("--listen", listen, mayLeave)
            ?? (advertise is null ? null : WhatIsWrongWith("--advertise", advertise, mayLeave))
            ?? (advertise is null && IsWildcard(listen) ? $"'{listen}' of --listen names no address that peers could dial; give that with --advertise" : null)
            ?? (advertise is not null && (IsWildcard(advertise) || IPEndPoint.Parse(advertise).Port == 0) ? $"'{advertise}' of --advertise is nothing that peers could dial; give an address of this machine and the port" : null);
    }

    private static string? Empty(string option, string value) => value.Length == 0 ? $"the path of {option} is empty; give the file" : null;

    private static string? WhatIsWrongWith(string option, string text, bool mayLeave)
    {
        if (!IPEndPoint.TryParse(text, out IPEndPoint? end) || !text.Contains(':')) return $"'{text}' of {option} is no address with a port; write it like 127.0.0.1:4711";
        return mayLeave || IPAddress.IsLoopback(end.Address) ? null : $"'{text}' of {option} can be reached from other machines, and links are not encrypted; {Encrypt}, or give a loopback address such as 127.0.0.1:4711";
    }

    private static bool IsWildcard(string text) => IPEndPoint.TryParse(text, out IPEndPoint? end) && (end.Address.Equals(IPAddress.Any) || end.Address.Equals(IPAddress.IPv6Any));
}
