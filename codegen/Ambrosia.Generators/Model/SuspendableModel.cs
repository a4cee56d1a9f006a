namespace Ambrosia.Generators;

/// <summary>An async method that returns a Call: its id in metadata names, and the hash of its source.</summary>
/// <param name="Kept">Definitions of types that its locals and parameters are made of.</param>
internal sealed record SuspendableModel(string Id, string Source, EquatableArray<string> Kept);
