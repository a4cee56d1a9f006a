using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using CRA;
using CRA.Catalog;
using CRA.Places;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Opens a catalog wherever it is, with the credentials that the environment of this process names, and with the files of a directory. Any
/// thread.
/// </summary>
public static class CatalogOpening
{
    /// <summary>Opens it for an operator's command.</summary>
    /// <param name="files">They decide whether anything can be changed in a directory.</param>
    /// <param name="secret">Makes the secret of a new catalog; null: the catalog is only read.</param>
    /// <exception cref="CatalogException">There is no such store here, or its credentials will not do.</exception>
    public static ICatalog Open(CatalogPlace place, IFileSystem files, RandomBytes? secret, ILogger logger) =>
        Open(place, new CatalogFiles(files, place.Path, "tool.tool", Environment.ProcessId), secret, logger);

    /// <exception cref="MisuseException">There is no such store here, or its credentials will not do: exit 2.</exception>
    internal static ICatalog ForCoordinator(CatalogPlace place, CatalogFiles files, ILogger logger)
    {
        try
        {
            return Open(place, files, SystemRandom.Fill, logger);
        }
        catch (CatalogException e)
        {
            throw new MisuseException(e.Message);
        }
    }

    private static ICatalog Open(CatalogPlace place, CatalogFiles files, RandomBytes? secret, ILogger logger)
    {
        CatalogCredentials credentials = place.IsDirectory ? CatalogCredentials.None
            : CatalogCredentials.Read(Environment.GetEnvironmentVariable, ReadFile);
        return CatalogStores.Open(place, new CatalogAccess(_ => files, secret ?? SystemRandom.Fill, TimeProvider.System, logger)
        {
            Credentials = credentials, MayMakeSecret = secret is not null,
        });
    }

    private static string ReadFile(string path, bool isSecret)
    {
        if (isSecret && FileRights.WhatIsWrongWithKey(path) is { } wrong)
            throw new CatalogException($"The file '{path}' with a secret of the catalog's store is not secret: {wrong}. Mend it with 'chmod 600 {path}'.");
        return File.ReadAllText(path);
    }
}
