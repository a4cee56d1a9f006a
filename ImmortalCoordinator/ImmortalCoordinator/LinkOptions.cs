using System.CommandLine;
using System.CommandLine.Parsing;
using System.Net;
using CRA.Catalog;

namespace ImmortalCoordinator;

/// <summary>
/// Defines the options about links to peers, and says what is wrong with them together. What leaves the machine is encrypted, or the user
/// has allowed it with --insecure.
/// </summary>
internal static class LinkOptions
{
    public static readonly TextOption Listen = new("--listen", "ADDR:PORT", "Address and port for peers; port 0: any free one.",
        AnyLoopbackPort);
    public static readonly TextOption Advertise = new("--advertise", "ADDR:PORT",
        "Address and port that peers dial, where it is not the one listened on.");
    public static readonly TextOption Certificate = new("--tls-cert", "FILE", "Certificate of this instance, PEM. Links then use TLS 1.3.")
    {
        WhatIsWrong = static v => Empty("--tls-cert", v)
    };
    public static readonly TextOption Key = new("--tls-key", "FILE", "Its private key, PEM, mode 0600.")
    {
        WhatIsWrong = static v => Empty("--tls-key", v)
    };
    public static readonly TextOption Authorities = new("--tls-ca", "FILE", "Authorities that signed the peers' certificates, PEM.")
    {
        WhatIsWrong = static v => Empty("--tls-ca", v)
    };
    public static readonly Option<bool> Insecure = new("--insecure")
    {
        Description = "Allow links to other machines without TLS, on a network that you trust."
    };

    private const string AnyLoopbackPort = "127.0.0.1:0";
    private const string Encrypt =
        "encrypt with --tls-cert, --tls-key and --tls-ca ('ambrosia certs' makes certificates to begin with), or allow it with --insecure on a network that you trust";

    /// <param name="catalog">Says where the catalog is, and with it who may read the secret by which links know each other.</param>
    public static void AddTo(RootCommand root, TextOption catalog)
    {
        foreach (Option option in new Option[] { Listen, Advertise, Certificate, Key, Authorities, Insecure }) root.Add(option);
        root.Validators.Add(result =>
        {
            if ((WhatIsWrong(result) ?? WhatIsWrongWithCatalog(result, catalog)) is { } wrong) result.AddError(wrong);
        });
    }

    /// <summary>Says what is wrong with the options together, or returns null.</summary>
    private static string? WhatIsWrong(CommandResult result)
    {
        int tls = new[] { Certificate, Key, Authorities }.Count(option => TextOption.Given(result, option) is not null);
        bool isInsecure = result.GetValue(Insecure);
        if (tls is 1 or 2) return "--tls-cert, --tls-key and --tls-ca belong together; give all three";
        if (tls == 3 && isInsecure) return "--insecure and --tls-cert exclude each other; with certificates every link is encrypted";
        string? given = TextOption.Given(result, Listen), advertise = TextOption.Given(result, Advertise);
        if (given is null && advertise is null) return null;
        string listen = given ?? AnyLoopbackPort;
        bool mayLeave = tls == 3 || isInsecure;
        return WhatIsWrongWith("--listen", listen, mayLeave)
            ?? (advertise is null ? null : WhatIsWrongWith("--advertise", advertise, mayLeave))
            ?? (advertise is null && IsWildcard(listen)
                ? $"'{listen}' of --listen names no address that peers could dial; give that with --advertise" : null)
            ?? (advertise is not null && (IsWildcard(advertise) || IPEndPoint.Parse(advertise).Port == 0)
                ? $"'{advertise}' of --advertise is nothing that peers could dial; give an address of this machine and the port" : null);
    }

    /// <summary>Whoever may read a store has the secret that is in it; so links need more than that, unless their operator says
    /// otherwise.</summary>
    private static string? WhatIsWrongWithCatalog(CommandResult result, TextOption catalog)
    {
        if (TextOption.Given(result, catalog) is not { } text
            || CatalogPlace.TryParse(text, out _) is not { IsDirectory: false } place) return null;
        return TextOption.Given(result, Certificate) is not null || result.GetValue(Insecure) ? null
            : $"whoever may read the catalog {place} could pass for any instance, since links would know each other by its secret alone; {Encrypt}";
    }

    private static string? Empty(string option, string value) => value.Length == 0 ? $"the path of {option} is empty; give the file" : null;

    private static string? WhatIsWrongWith(string option, string text, bool mayLeave)
    {
        if (!IPEndPoint.TryParse(text, out IPEndPoint? end) || !text.Contains(':'))
            return $"'{text}' of {option} is no address with a port; write it like 127.0.0.1:4711";
        return mayLeave || IPAddress.IsLoopback(end.Address) ? null
            : $"'{text}' of {option} can be reached from other machines, and links are not encrypted; {Encrypt}, or give a loopback address such as 127.0.0.1:4711";
    }

    private static bool IsWildcard(string text) =>
        IPEndPoint.TryParse(text, out IPEndPoint? end) && (end.Address.Equals(IPAddress.Any) || end.Address.Equals(IPAddress.IPv6Any));
}
