namespace CRA.Catalog;

/// <summary>
/// The seam to a store that many machines reach, under <see cref="StoreCatalog"/>: named values, each with a version, which change only by
/// compare and swap. Any thread may call any member; all block. Reads are linearizable: what one call has written, every later one sees.
/// Of a write that ends with an <see cref="IOException"/> nobody knows whether it took effect, or will; the version that it names keeps it
/// from replacing anything that was written later. Names hold letters, digits and <c>. _ - :</c>.
/// </summary>
public interface ICatalogStore
{
    /// <summary>The place, for messages.</summary>
    string Place { get; }

    /// <summary>Returns a value with its version; null: it is not there.</summary>
    StoredValue? Read(string name);

    /// <summary>Returns all values whose names begin with <paramref name="prefix"/>, in any order.</summary>
    IReadOnlyList<KeyValuePair<string, StoredValue>> ReadAll(string prefix);

    /// <summary>Returns the label of each value whose name begins with <paramref name="prefix"/>, without reading the values.</summary>
    IReadOnlyList<KeyValuePair<string, ulong>> ReadLabels(string prefix);

    /// <summary>Writes a value with its label, if its version is still this one; returns whether it did.</summary>
    /// <param name="version">Null: if the value is not there.</param>
    bool TryWrite(string name, ReadOnlyMemory<byte> value, ulong label, string? version);

    /// <summary>Removes a value if its version is still this one; returns whether it did.</summary>
    bool TryRemove(string name, string version);

    /// <summary>Returns the name of something in the place that does not begin with one of these; null: there is none.</summary>
    string? FindForeign(IReadOnlyList<string> prefixes);
}
