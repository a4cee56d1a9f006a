using System.Globalization;
using Ambrosia.Protocol;

namespace CRA.Catalog;

/// <summary>
/// Says where a catalog is: in a directory, under a prefix of an etcd, or in a table of an Azure storage account. It is the value of
/// <c>--catalog</c>, and there is one parser of it for everybody. It is immutable, and two that name the same place are equal by their
/// text.
/// </summary>
public sealed record CatalogPlace
{
    public const string DirectoryScheme = "directory", EtcdScheme = "etcd", AzureTablesScheme = "azure-tables";

    private const int EndpointsMax = 16, PrefixCharsMax = 200;
    private const string Mark = "://";
    private const string Forms = "give a directory, etcd://host:port[,host:port]/prefix or azure-tables://account/table";

    private CatalogPlace(string scheme, IReadOnlyList<string> hosts, string path, string text)
    {
        (Scheme, Hosts, Path, Text) = (scheme, hosts, path, text);
    }

    /// <summary>The kind of the place, which decides who opens it.</summary>
    public string Scheme { get; }

    /// <summary>The endpoints of an etcd, each a host and a port; the account of Azure tables; none for a directory.</summary>
    public IReadOnlyList<string> Hosts { get; }

    /// <summary>The absolute path of the directory, the prefix of the keys without slashes around it, or the name of the table.</summary>
    public string Path { get; }

    /// <summary>The place as it is written on a command line.</summary>
    public string Text { get; }

    public bool IsDirectory => Scheme == DirectoryScheme;

    public static CatalogPlace OfDirectory(string path)
    {
        string full = System.IO.Path.GetFullPath(path);
        return new CatalogPlace(DirectoryScheme, [], full, full);
    }

    /// <summary>Parses a place as users write it.</summary>
    /// <exception cref="CatalogException">It is none; the message says why and how to mend it.</exception>
    public static CatalogPlace Parse(string text) => TryParse(text, out string wrong) ?? throw new CatalogException(wrong);

    /// <summary>Parses a place as users write it; null: it is none, and <paramref name="whatIsWrong"/> says why and how to mend
    /// it.</summary>
    public static CatalogPlace? TryParse(string text, out string whatIsWrong)
    {
        whatIsWrong = WhatIsWrong(text) ?? "";
        if (whatIsWrong.Length > 0) return null;
        int mark = text.IndexOf(Mark, StringComparison.Ordinal);
        if (mark < 0) return OfDirectory(text);
        string scheme = text[..mark], rest = text[(mark + Mark.Length)..];
        int slash = rest.IndexOf('/');
        string path = rest[(slash + 1)..].TrimEnd('/');
        string[] hosts = rest[..slash].Split(',');
        return new CatalogPlace(scheme, hosts, path, $"{scheme}{Mark}{string.Join(',', hosts)}/{path}");
    }

    public bool Equals(CatalogPlace? other) => other is not null && Text == other.Text;

    public override int GetHashCode() => Text.GetHashCode(StringComparison.Ordinal);

    public override string ToString() => Text;

    private static string? WhatIsWrong(string text)
    {
        if (text.Length == 0) return $"the place of the catalog is empty; {Forms}";
        if (text.Any(char.IsControl)) return $"the place of the catalog has control characters in it; {Forms}";
        int mark = text.IndexOf(Mark, StringComparison.Ordinal);
        if (mark < 0)
            return new[] { EtcdScheme, AzureTablesScheme }.FirstOrDefault(s =>
                text.StartsWith(s + ":", StringComparison.Ordinal)) is { } half
                ? $"'{text}' is no place of a catalog: behind '{half}:' two slashes are missing; {Forms}" : null;
        string scheme = text[..mark], rest = text[(mark + Mark.Length)..];
        if (scheme is not (EtcdScheme or AzureTablesScheme)) return $"'{scheme}' in '{WithoutUser(text)}' is no kind of catalog; {Forms}";
        if (rest.Contains('@'))
            return $"the catalog's place '{WithoutUser(text)}' names a user or a password, which everybody sees who lists processes: leave it out, and give {(scheme == EtcdScheme ? $"the name in {CatalogCredentials.UserVariable} and the password in the file that {CatalogCredentials.PasswordFileVariable} names" : $"the connection string in the file that {CatalogCredentials.ConnectionFileVariable} names")}";
        if (rest.Contains(Mark, StringComparison.Ordinal))
            return $"the catalog's place '{text}' has two schemes; name one store, and of an etcd its endpoints with commas between: etcd://host:port,host:port/prefix";
        if (rest.AsSpan().IndexOfAny('?', '#') >= 0)
            return $"the catalog's place '{text}' has a '{rest[rest.AsSpan().IndexOfAny('?', '#')]}' in it, which means nothing there; leave out what begins with it";
        int slash = rest.IndexOf('/');
        if (slash < 0) return $"the catalog's place '{text}' ends behind the host: {(scheme == EtcdScheme ? "a prefix" : "a table")} is missing; {Forms}";
        string path = rest[(slash + 1)..];
        return scheme == EtcdScheme
            ? WhatIsWrongWithEndpoints(text, rest[..slash]) ?? WhatIsWrongWithPrefix(text, path)
            : WhatIsWrongWithTable(text, rest[..slash], path);
    }

    private static string? WhatIsWrongWithEndpoints(string text, string hosts)
    {
        string[] endpoints = hosts.Split(',');
        if (endpoints.Length > EndpointsMax) return $"the catalog's place names {endpoints.Length} endpoints where {EndpointsMax} are allowed; name fewer of them";
        foreach (string endpoint in endpoints)
        {
            int colon = endpoint.LastIndexOf(':');
            string host = colon < 0 ? endpoint : endpoint[..colon], port = colon < 0 ? "" : endpoint[(colon + 1)..];
            bool isAddress6 = host.StartsWith('[') && host.EndsWith(']');
            if (endpoint.EndsWith(']') || port.Length == 0)
                return $"'{endpoint}' in the catalog's place '{text}' has no port; write it like etcd://10.0.0.1:2379/prefix";
            if (Uri.CheckHostName(isAddress6 ? host[1..^1] : host) == UriHostNameType.Unknown || (host.Contains(':') && !isAddress6))
                return $"'{host}' in the catalog's place '{text}' is no host; give a name or an address, and an IPv6 address in brackets";
            if (!ushort.TryParse(port, NumberStyles.None, CultureInfo.InvariantCulture, out ushort number) || number == 0)
                return $"'{port}' in the catalog's place '{text}' is no port; give 1 to 65535";
        }
        return endpoints.Distinct(StringComparer.OrdinalIgnoreCase).Count() == endpoints.Length ? null
            : $"the catalog's place '{text}' names an endpoint twice; name each once";
    }

    private static string? WhatIsWrongWithPrefix(string text, string path)
    {
        string prefix = path.TrimEnd('/');
        if (prefix.Length == 0)
            return $"the catalog's place '{text}' has no prefix: its keys would stand among all others; write it like etcd://host:port/ambrosia";
        if (prefix.Length > PrefixCharsMax) return $"the prefix of the catalog has {prefix.Length} characters where {PrefixCharsMax} are allowed; give a shorter one";
        string? wrong = prefix.Split('/').FirstOrDefault(
            static part => part is "" or "." or ".." || !part.All(static c => char.IsAsciiLetterOrDigit(c) || c is '.' or '_' or '-'));
        return wrong is null ? null
            : $"'{wrong}' in the prefix of the catalog's place '{text}' is refused: a prefix has letters, digits, '.', '_' and '-' between its slashes, and no '.' or '..' alone";
    }

    private static string? WhatIsWrongWithTable(string text, string account, string path)
    {
        string table = path.TrimEnd('/');
        if (account.Length is < 3 or > 24 || !account.All(static c => char.IsAsciiLetterLower(c) || char.IsAsciiDigit(c)))
            return $"'{account}' in the catalog's place '{text}' is no storage account: 3 to 24 lower-case letters and digits, and no port or domain";
        return table.Length is >= 3 and <= 63 && char.IsAsciiLetter(table[0]) && table.All(char.IsAsciiLetterOrDigit) ? null
            : $"'{table}' in the catalog's place '{text}' is no table: 3 to 63 letters and digits, beginning with a letter";
    }

    /// <summary>A password must not reach a terminal or a log, so what may be one is left out of messages.</summary>
    private static string WithoutUser(string text)
    {
        int at = text.LastIndexOf('@'), mark = text.IndexOf(Mark, StringComparison.Ordinal);
        return at < 0 ? text : $"{text[..(mark + Mark.Length)]}…{text[at..]}";
    }
}
