using System.Globalization;
using CRA.Catalog;

namespace CRA.Tests;

/// <summary>A store in memory that keeps the seam's promises. Any thread may call it; one lock guards all.</summary>
internal sealed class MemoryStore : ICatalogStore
{
    private readonly Lock _gate = new();
    private readonly SortedDictionary<string, (StoredValue Value, ulong Label)> _values = new(StringComparer.Ordinal);
    private long _version;

    /// <summary>False is a planted bug: what is written replaces whatever is there.</summary>
    public bool Compares { get; init; } = true;

    public string Place => "memory";

    public StoredValue? Read(string name)
    {
        lock (_gate) return _values.TryGetValue(name, out var found) ? found.Value : null;
    }

    public IReadOnlyList<KeyValuePair<string, StoredValue>> ReadAll(string prefix)
    {
        lock (_gate)
            return [.. _values.Where(each => each.Key.StartsWith(prefix, StringComparison.Ordinal))
                .Select(static each => KeyValuePair.Create(each.Key, each.Value.Value))];
    }

    public IReadOnlyList<KeyValuePair<string, ulong>> ReadLabels(string prefix)
    {
        lock (_gate)
            return [.. _values.Where(each => each.Key.StartsWith(prefix, StringComparison.Ordinal))
                .Select(static each => KeyValuePair.Create(each.Key, each.Value.Label))];
    }

    public bool TryWrite(string name, ReadOnlyMemory<byte> value, ulong label, string? version)
    {
        lock (_gate)
        {
            if (Compares && Read(name)?.Version != version) return false;
            Put(name, value.ToArray(), label);
            return true;
        }
    }

    public bool TryRemove(string name, string version)
    {
        lock (_gate) return (!Compares || Read(name)?.Version == version) && _values.Remove(name);
    }

    public string? FindForeign(IReadOnlyList<string> prefixes)
    {
        lock (_gate) return _values.Keys.FirstOrDefault(name => !prefixes.Any(each => name.StartsWith(each, StringComparison.Ordinal)));
    }

    public void Put(string name, byte[] value, ulong label)
    {
        lock (_gate) _values[name] = (new StoredValue(value, (++_version).ToString(CultureInfo.InvariantCulture)), label);
    }
}
