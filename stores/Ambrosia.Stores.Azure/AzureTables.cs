using Azure.Core;
using Azure.Core.Pipeline;
using Azure.Data.Tables;
using Azure.Identity;
using CRA.Catalog;
using CRA.Places;

namespace Ambrosia.Stores.Azure;

/// <summary>
/// It opens catalogs in a table of an Azure storage account: <c>azure-tables://account/table</c>. A program that wants them says
/// <see cref="Use"/> before it starts anything. Who may come in is said by a connection string in a file, or by the identity that Azure
/// gives this machine.
/// </summary>
public static class AzureTables
{
    /// <summary>A request that is not answered within this time is made again, <see cref="RetriesMax"/> times.</summary>
    private static readonly TimeSpan s_answerMax = TimeSpan.FromSeconds(2);

    private const int RetriesMax = 1;

    /// <summary>Makes such places known to this process: to coordinators, clients and tools in it.</summary>
    public static void Use() => CatalogStores.Add(CatalogPlace.AzureTablesScheme, static (place, access) => Open(place, access, null));

    /// <param name="transport">Sends requests; null: over the network. Tests lose some there.</param>
    internal static StoreCatalog Open(CatalogPlace place, CatalogAccess access, HttpPipelineTransport? transport)
    {
        var options = new TableClientOptions
        {
            Retry = { MaxRetries = RetriesMax, NetworkTimeout = s_answerMax, Mode = RetryMode.Fixed, Delay = TimeSpan.FromMilliseconds(100) },
            Diagnostics = { IsLoggingEnabled = false, IsTelemetryEnabled = false, IsDistributedTracingEnabled = false },
        };
        if (transport is not null) options.Transport = transport;
        return new StoreCatalog(new AzureTableStore(place, NewClient(place, access.Credentials.Connection, options)), access);
    }

    private static TableClient NewClient(CatalogPlace place, string? connection, TableClientOptions options)
    {
        string account = place.Hosts[0];
        if (connection is null)
            return new TableClient(new Uri($"https://{account}.table.core.windows.net"), place.Path, new DefaultAzureCredential(), options);
        TableClient client;
        try
        {
            client = new TableClient(connection, place.Path, options);
        }
        catch (Exception e) when (e is FormatException or ArgumentException or InvalidOperationException)
        {
            throw new CatalogException(
                $"The file that {CatalogCredentials.ConnectionFileVariable} names holds no connection string of a storage account. Copy it from the account's access keys: it begins with 'DefaultEndpointsProtocol='.");
        }
        return client.AccountName == account ? client
            : throw new CatalogException(
                $"The connection string in the file of {CatalogCredentials.ConnectionFileVariable} is for the account '{client.AccountName}', and the catalog's place names '{account}'. Give those of one account.");
    }
}
