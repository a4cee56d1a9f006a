namespace Ambrosia;

/// <summary>
/// Counts failures of handlers that nobody awaited and says each sort of them once, with the place in the log that repeats it.
/// </summary>
internal sealed class FailureLog(Action<string> log)
{
    /// <summary>Sorts that are remembered; a service that fails in more ways than this has said enough.</summary>
    private const int SortsMax = 256;

    private readonly HashSet<(string Handler, string Type)> said = [];

    internal long Count { get; private set; }

    internal void Add(string handler, ulong lsn, Exception failure)
    {
        Count++;
        if (said.Count >= SortsMax || !said.Add((handler, failure.GetType().FullName ?? ""))) return;
        log($"A handler that nobody awaits failed ({handler}, record at Lsn {lsn}); the service goes on: {failure}");
    }
}
