namespace CRA.Catalog;

/// <summary>It holds a value of a store, and the version that the value had when it was read.</summary>
/// <param name="Version">Another one with each write; only the store knows what it means.</param>
public sealed record StoredValue(byte[] Value, string Version);
