namespace Ambrosia.Perf;

/// <summary>A rival cannot be built here: what is missing and how to get it.</summary>
internal sealed class MissingRivalException(string message) : Exception(message);
