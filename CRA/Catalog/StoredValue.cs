namespace CRA.Catalog;

/// <summary>A value of a store, and the version that it had when it was read.</summary>
/// <param name="Version">Another one with each write; only the store knows what it means.</param>
public sealed record StoredValue(byte[] Value, string Version);
