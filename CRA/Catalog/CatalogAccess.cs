using Microsoft.Extensions.Logging;

namespace CRA.Catalog;

/// <summary>It holds what whoever opens a catalog brings: its seams, its credentials, and whether it may make a new secret.</summary>
/// <param name="Files">Opens the files of a directory, for a catalog that is one.</param>
/// <param name="Random">Source of the secret; must be fit for cryptography.</param>
/// <param name="Time">Says whether certificates are valid now.</param>
/// <param name="Logger">Receives one event for each thing in the catalog that is ignored.</param>
public sealed record CatalogAccess(Func<string, ICatalogFiles> Files, RandomBytes Random, TimeProvider Time, ILogger Logger)
{
    public CatalogCredentials Credentials { get; init; } = CatalogCredentials.None;

    /// <summary>An empty catalog gets a secret when it is asked for; without this it is taken for the wrong place.</summary>
    public bool MayMakeSecret { get; init; } = true;
}
