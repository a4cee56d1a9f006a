using Ambrosia.Failures;

namespace Ambrosia.Calls;

/// <summary>
/// Tells of failures of calls, tasks and methods that nobody awaits: each is counted, and of each place and type of failure the first one
/// is a line. It waits a while, since a handler may begin several and await them one after another. Part of no state. Thread: the
/// scheduler's.
/// </summary>
/// <param name="time">Null: nothing is told.</param>
/// <param name="count">Counts one.</param>
internal sealed class UnheardFailures(TimeProvider? time, Action<string> log, Action count)
{
    /// <summary>Whoever is to await a failed call does so within this time, as far as we can know.</summary>
    internal static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>More are counted at once, and not waited for.</summary>
    private const int WaitingMax = 10_000;

    private const int LinesMax = 1000;

    private readonly Queue<(Source Source, long Since)> _waiting = new();
    private readonly HashSet<string> _told = [];

    /// <summary>This has failed, and nobody waits for it now.</summary>
    internal void Add(Source failed)
    {
        if (time is null) return;
        if (_waiting.Count == WaitingMax) Tell(_waiting.Dequeue().Source);
        _waiting.Enqueue((failed, time.GetTimestamp()));
    }

    /// <summary>Tells of those whose time is over. It is called when the app waits for input.</summary>
    internal void Look()
    {
        while (_waiting.TryPeek(out (Source Source, long Since) next)
            && (next.Source.IsHeard || time!.GetElapsedTime(next.Since) >= Patience))
        {
            _waiting.Dequeue();
            Tell(next.Source);
        }
    }

    private void Tell(Source failed)
    {
        if (failed.IsHeard) return;
        count();
        Exception failure = failed.Error!;
        string type = failure is RemoteCallException { TypeName: { } name } ? name : failure.GetType().ToString();
        if (_told.Count >= LinesMax || !_told.Add($"{failed.Place} {type}")) return;
        log($"{failed.Place} has failed, and nobody has awaited it: {FailureCodec.Whole(failure)}. Await it, or handle its failure there; further ones of this place and type are counted alone.");
    }
}
