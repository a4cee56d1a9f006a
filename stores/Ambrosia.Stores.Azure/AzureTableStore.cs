using System.Globalization;
using Azure;
using Azure.Data.Tables;
using Azure.Identity;
using CRA.Catalog;

namespace Ambrosia.Stores.Azure;

/// <summary>
/// Keeps named values as entities of one table, in one partition: the row key is the name, <c>Label</c> the label, and the value is cut
/// into properties <c>V0</c>, <c>V1</c> and so on, since one property holds 64 KiB. A version is an entity's ETag. It makes the table when
/// the first value is written. Any thread may call it.
/// </summary>
internal sealed class AzureTableStore(CatalogPlace place, TableClient table) : ICatalogStore
{
    private const string Partition = "ambrosia", Label = "Label";
    private const int PartBytesMax = 60 << 10, PartsMax = 15;
    private const int NotFound = 404, Conflict = 409, Failed = 412, Unauthorized = 401, Forbidden = 403;

    public string Place => place.Text;

    public StoredValue? Read(string name) => Ask(() =>
    {
        NullableResponse<TableEntity> found = table.GetEntityIfExists<TableEntity>(Partition, name);
        return found.HasValue ? Stored(found.Value!) : null;
    });

    public IReadOnlyList<KeyValuePair<string, StoredValue>> ReadAll(string prefix) => Ask<IReadOnlyList<KeyValuePair<string, StoredValue>>>(
        () => [.. Query(prefix, null).Select(static each => KeyValuePair.Create(each.RowKey, Stored(each)))]) ?? [];

    public IReadOnlyList<KeyValuePair<string, ulong>> ReadLabels(string prefix) => Ask<IReadOnlyList<KeyValuePair<string, ulong>>>(() =>
    {
        var labels = new List<KeyValuePair<string, ulong>>();
        foreach (TableEntity each in Query(prefix, ["RowKey", Label]))
            if (ulong.TryParse(each.TryGetValue(Label, out object? text) ? text as string : null, NumberStyles.None,
                CultureInfo.InvariantCulture, out ulong label))
                labels.Add(KeyValuePair.Create(each.RowKey, label));
        return labels;
    }) ?? [];

    public bool TryWrite(string name, ReadOnlyMemory<byte> value, ulong label, string? version)
    {
        var entity = new TableEntity(Partition, name);
        for (int part = 0, from = 0; from < value.Length || part == 0; part++, from += PartBytesMax)
            entity[$"V{part}"] = value.Slice(from, Math.Min(PartBytesMax, value.Length - from)).ToArray();
        // Table storage has no unsigned numbers.
        if (label > 0) entity[Label] = label.ToString(CultureInfo.InvariantCulture);
        if (version is not null) return TryChange(() => table.UpdateEntity(entity, new ETag(version), TableUpdateMode.Replace));
        if (TryChange(() => table.AddEntity(entity), out bool hasNoTable)) return true;
        if (!hasNoTable) return false;
        Ask(() => table.CreateIfNotExists());
        return TryChange(() => table.AddEntity(entity));
    }

    public bool TryRemove(string name, string version) => TryChange(() =>
    {
        // What is not there is answered without an exception.
        if (table.DeleteEntity(Partition, name, new ETag(version)).Status == NotFound) throw new RequestFailedException(NotFound, "it is not there");
    });

    public string? FindForeign(IReadOnlyList<string> prefixes) => Ask(() => table.Query<TableEntity>(select: ["PartitionKey", "RowKey"])
        .Where(each => each.PartitionKey != Partition || !prefixes.Any(prefix => each.RowKey.StartsWith(prefix, StringComparison.Ordinal)))
        .Select(static each => $"{each.PartitionKey}/{each.RowKey}").FirstOrDefault());

    private Pageable<TableEntity> Query(string prefix, IEnumerable<string>? select)
    {
        string end = prefix[..^1] + (char)(prefix[^1] + 1);
        return table.Query<TableEntity>(
            TableClient.CreateQueryFilter($"PartitionKey eq {Partition} and RowKey ge {prefix} and RowKey lt {end}"), select: select);
    }

    private static StoredValue Stored(TableEntity entity)
    {
        using var value = new MemoryStream();
        for (int part = 0; part < PartsMax && entity.TryGetValue($"V{part}", out object? bytes); part++)
            value.Write(bytes switch { byte[] each => each, BinaryData each => each, _ => [] });
        return new StoredValue(value.ToArray(), entity.ETag.ToString());
    }

    private bool TryChange(Action change) => TryChange(change, out _);

    private bool TryChange(Action change, out bool hasNoTable)
    {
        bool isTableMissing = false;
        bool hasChanged = Ask(() =>
        {
            try
            {
                change();
                return true;
            }
            catch (RequestFailedException e) when (e.Status is Failed or NotFound || (e.Status == Conflict && e.ErrorCode == "EntityAlreadyExists"))
            {
                isTableMissing = e.ErrorCode == "TableNotFound";
                return false;
            }
        });
        hasNoTable = isTableMissing;
        return hasChanged;
    }

    /// <summary>Makes a request. A table that is not there has nothing in it; every other failure is one of I/O, or one to be
    /// mended.</summary>
    private T? Ask<T>(Func<T> request)
    {
        try
        {
            return request();
        }
        catch (RequestFailedException e) when (e.Status == NotFound)
        {
            return default;
        }
        catch (RequestFailedException e) when (e.Status is Unauthorized or Forbidden)
        {
            throw new CatalogException(
                $"The catalog {Place} does not let this process in: {FirstLine(e)}. Give in the file of {CatalogCredentials.ConnectionFileVariable} a connection string that may read and write the table, or give this machine's identity the role 'Storage Table Data Contributor'.");
        }
        catch (CredentialUnavailableException e)
        {
            throw new CatalogException(
                $"Azure gives this process no identity for the catalog {Place}: {FirstLine(e)}. Give a connection string in the file that {CatalogCredentials.ConnectionFileVariable} names, or run where Azure knows the machine.");
        }
        catch (AuthenticationFailedException e)
        {
            throw new IOException($"Azure does not say who this process is: {FirstLine(e)}", e);
        }
        catch (Exception e) when (
            e is RequestFailedException or AggregateException or OperationCanceledException or System.Text.Json.JsonException
            or FormatException or InvalidOperationException or KeyNotFoundException)
        {
            // The library throws the last three for answers that make no sense.
            throw new IOException($"the catalog {Place} cannot be reached: {FirstLine(e)}", e);
        }
    }

    private static string FirstLine(Exception e) => e.Message.Split('\n')[0].TrimEnd('\r', '.', ' ');
}
