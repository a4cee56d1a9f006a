using System.Text.Json;
using System.Text.Json.Serialization;
using Ambrosia.Protocol;

namespace CRA.Catalog;

/// <summary>
/// An entry holds all that the catalog knows of one instance (protocol P8.1). Entries are equal when all their values are, replica by
/// replica.
/// </summary>
/// <param name="Uuid">UUID that was made at the instance's creation; another one under the same name is another instance.</param>
/// <param name="LogPath">Directory of the instance's log.</param>
/// <param name="Epoch">Epoch of the primary that published the entry.</param>
public sealed record CatalogEntry(InstanceId Instance, Guid Uuid, string LogPath, Epoch Epoch, IReadOnlyList<ReplicaEntry> Replicas)
{
    /// <summary>
    /// What names that directory among all of its machine and of others, in the words of the publisher; empty: nothing does.
    /// </summary>
    public string Place { get; init; } = "";

    /// <summary>The replica that is primary in the entry's epoch; null: none is.</summary>
    public ReplicaEntry? Primary => Replicas.FirstOrDefault(replica => replica.Role == ReplicaEntry.Primary && replica.Epoch == Epoch);

    public bool Equals(CatalogEntry? other) =>
        other is not null && Instance == other.Instance && Uuid == other.Uuid && LogPath == other.LogPath && Epoch == other.Epoch
        && Place == other.Place && Replicas.SequenceEqual(other.Replicas);

    public override int GetHashCode() => HashCode.Combine(Instance, Uuid, Epoch, Replicas.Count);
}

/// <summary>It holds what the catalog knows of one replica of an instance, above all where it is (protocol P8.1).</summary>
/// <param name="Name">Name of the replica (protocol P1.5).</param>
/// <param name="Address">IP address and port of its link listener, for instance "127.0.0.1:4711".</param>
/// <param name="Role">Role at the moment, a word for people and tools.</param>
/// <param name="Epoch">Epoch in which the replica stated this role.</param>
public sealed record ReplicaEntry(string Name, string Address, string Role, Epoch Epoch)
{
    /// <summary>The role of the replica that writes the log.</summary>
    public const string Primary = "primary";
}

/// <summary>
/// Encodes and decodes the text of one catalog file (protocol P8.1). Decoding trusts nothing: it gives the entry, or says what is wrong.
/// </summary>
internal static class EntryJson
{
    public static byte[] Encode(CatalogEntry entry)
    {
        ReplicaJson[] replicas = [.. entry.Replicas.Select(r => new ReplicaJson(r.Name, r.Address, r.Role, r.Epoch.Value))];
        var json = new InstanceJson(entry.Instance.Name, entry.Instance.Shard, entry.Uuid, entry.LogPath, entry.Epoch.Value, replicas,
            entry.Place.Length > 0 ? entry.Place : null);
        return JsonSerializer.SerializeToUtf8Bytes(json, EntryJsonContext.Default.InstanceJson);
    }

    public static CatalogEntry? Decode(ReadOnlySpan<byte> text, out string whatIsWrong)
    {
        whatIsWrong = "";
        if (text.Length > CatalogLimits.EntryBytesMax)
        {
            whatIsWrong = $"it is larger than {CatalogLimits.EntryBytesMax} bytes";
            return null;
        }
        if (Parse(text, out whatIsWrong) is not { } json) return null;
        ReplicaEntry[] replicas = [.. json.Replicas.Select(r => new ReplicaEntry(r.Name, r.Address, r.Role, new Epoch(r.Epoch)))];
        var entry = new CatalogEntry(new InstanceId(json.Instance, json.Shard), json.Uuid, json.Log, new Epoch(json.Epoch), replicas)
        {
            Place = json.Place ?? "",
        };
        whatIsWrong = CatalogLimits.WhatIsWrong(entry) ?? "";
        return whatIsWrong.Length == 0 ? entry : null;
    }

    private static InstanceJson? Parse(ReadOnlySpan<byte> text, out string whatIsWrong)
    {
        whatIsWrong = "it is not an entry";
        try
        {
            InstanceJson? json = JsonSerializer.Deserialize(text, EntryJsonContext.Default.InstanceJson);
            return json is null || json.Replicas.Any(r => r is null) ? null : json;
        }
        catch (JsonException e)
        {
            whatIsWrong = $"it is not an entry (line {e.LineNumber}, byte {e.BytePositionInLine})";
            return null;
        }
    }
}

/// <summary>The JSON of an instance's entry; its names are those of the document.</summary>
internal sealed record InstanceJson(
    [property: JsonPropertyName("instance")] string Instance,
    [property: JsonPropertyName("shard")] ushort Shard,
    [property: JsonPropertyName("uuid")] Guid Uuid,
    [property: JsonPropertyName("log")] string Log,
    [property: JsonPropertyName("epoch")] ulong Epoch,
    [property: JsonPropertyName("replicas")] ReplicaJson[] Replicas,
    [property: JsonPropertyName("place"), JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] string? Place = null);

/// <summary>It has the shape of the JSON of one replica within an instance's entry.</summary>
internal sealed record ReplicaJson(
    [property: JsonPropertyName("name")] string Name,
    [property: JsonPropertyName("address")] string Address,
    [property: JsonPropertyName("role")] string Role,
    [property: JsonPropertyName("epoch")] ulong Epoch);

[JsonSourceGenerationOptions(
    RespectNullableAnnotations = true, RespectRequiredConstructorParameters = true, AllowDuplicateProperties = false, MaxDepth = 8)]
[JsonSerializable(typeof(InstanceJson))]
internal sealed partial class EntryJsonContext : JsonSerializerContext;
