namespace CRA.Catalog;

/// <summary>
/// It holds what a store asks for before it lets anybody in, as texts, since this library reads no files. All of it comes from the
/// environment and from files, never from the place or a command line, where others would see it. It is immutable.
/// </summary>
public sealed record CatalogCredentials
{
    public const string UserVariable = "AMBROSIA_CATALOG_USER", PasswordFileVariable = "AMBROSIA_CATALOG_PASSWORD_FILE",
        AuthoritiesVariable = "AMBROSIA_CATALOG_CA", CertificateVariable = "AMBROSIA_CATALOG_CERT", KeyVariable = "AMBROSIA_CATALOG_KEY",
        ConnectionFileVariable = "AMBROSIA_CATALOG_CONNECTION_FILE";

    /// <summary>There are none: the store lets everybody in, or knows this machine by other means.</summary>
    public static CatalogCredentials None { get; } = new();

    /// <summary>The name of etcd's user; null: there is none.</summary>
    public string? User { get; private init; }

    /// <summary>The user's password; null where there is no user.</summary>
    public string? Password { get; private init; }

    /// <summary>The PEM text of the authorities that signed the store's certificate; null: the connection is not encrypted.</summary>
    public string? Authorities { get; private init; }

    /// <summary>The PEM text of our certificate for the store; null: it wants none.</summary>
    public string? Certificate { get; private init; }

    /// <summary>The PEM text of the certificate's private key.</summary>
    public string? Key { get; private init; }

    /// <summary>The connection string of an Azure storage account; null: Azure's identity of this machine serves.</summary>
    public string? Connection { get; private init; }

    /// <summary>Reads what the environment names.</summary>
    /// <param name="variable">Gives a variable of the environment; null or empty: it is not set.</param>
    /// <param name="read">Reads a file; told whether it has a secret in it, which others must not be able to read.</param>
    /// <exception cref="CatalogException">Something is missing beside what is there, or a file cannot be read.</exception>
    public static CatalogCredentials Read(Func<string, string?> variable, Func<string, bool, string> read)
    {
        string? FileOf(string name) => variable(name) is { Length: > 0 } path
            ? ReadFile(name, path, file => read(file, name is not (AuthoritiesVariable or CertificateVariable))) : null;
        string? user = variable(UserVariable) is { Length: > 0 } given ? given : null;
        var credentials = new CatalogCredentials
        {
            User = user, Password = FileOf(PasswordFileVariable)?.TrimEnd('\r', '\n'), Authorities = FileOf(AuthoritiesVariable),
            Certificate = FileOf(CertificateVariable), Key = FileOf(KeyVariable), Connection = FileOf(ConnectionFileVariable)?.Trim(),
        };
        if ((credentials.User is null) != (credentials.Password is null))
            throw new CatalogException($"{UserVariable} and {PasswordFileVariable} belong together; set both, or neither.");
        if ((credentials.Certificate is null) != (credentials.Key is null))
            throw new CatalogException($"{CertificateVariable} and {KeyVariable} belong together; set both, or neither.");
        if (credentials is { Certificate: not null, Authorities: null })
            throw new CatalogException(
                $"{CertificateVariable} is set and {AuthoritiesVariable} is not: the store's own certificate could not be checked. Set it to the file of the authority that signed that.");
        return credentials;
    }

    private static string ReadFile(string variable, string path, Func<string, string> read)
    {
        try
        {
            return read(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new CatalogException($"the file '{path}' that {variable} names cannot be read: {e.Message} Name one that this user may read, or unset the variable.");
        }
    }
}
