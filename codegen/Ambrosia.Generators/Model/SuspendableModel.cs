namespace Ambrosia.Generators;

/// <summary>An async method that returns a Call: its id in metadata names, and the hash of its source.</summary>
internal sealed record SuspendableModel(string Id, string Source);
