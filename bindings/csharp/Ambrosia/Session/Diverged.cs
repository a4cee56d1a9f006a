namespace Ambrosia;

/// <summary>What is executed contradicts the log: this execution is another than the one that made it (log-format L5.11).</summary>
internal sealed class Diverged(string what) : Exception(what);
