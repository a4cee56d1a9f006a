using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>
/// A query on its way to one replica; who asked makes another one where this comes to nothing. State is guarded by the desk.
/// </summary>
/// <param name="position">Every record below is to be executed before.</param>
/// <param name="avoid">The road where it could not be answered the last time; null: none.</param>
internal sealed class QueryTry(uint method, byte[] arguments, Lsn position, uint patienceMs, QueryRoad? avoid)
{
    internal uint Method => method;

    internal byte[] Arguments => arguments;

    internal Lsn Position => position;

    internal uint PatienceMs => patienceMs;

    internal QueryRoad? Avoid => avoid;

    /// <summary>Continuations never run on the connection's threads.</summary>
    internal TaskCompletionSource<QueryOutcome> Completion { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
}

/// <summary>What became of a try. An answer, or why there is none.</summary>
/// <param name="Road">Where it was.</param>
internal sealed record QueryOutcome(byte[]? Value, Lsn Position, string Why, QueryRoad Road);
