using Ambrosia.Protocol;

namespace Ambrosia.Client.Queries;

/// <summary>
/// An attempt is a query on its way to one replica. Where it fails without an answer, <see cref="QueryRetrier"/> makes another one. Its
/// state is guarded by the lock of <see cref="QueryRouter"/>.
/// </summary>
/// <param name="position">Position below which the replica must have executed every record.</param>
/// <param name="avoid">Target that could not answer the last attempt; null if there was none.</param>
internal sealed class QueryAttempt(uint method, byte[] arguments, Lsn position, uint patienceMs, QueryTarget? avoid)
{
    internal uint Method => method;

    internal byte[] Arguments => arguments;

    internal Lsn Position => position;

    internal uint PatienceMs => patienceMs;

    internal QueryTarget? Avoid => avoid;

    /// <summary>The source completes with the outcome. Continuations never run on the connection's threads.</summary>
    internal TaskCompletionSource<QueryOutcome> Completion { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
}

/// <summary>The outcome of an attempt is a value and its position, or the reason why there is none.</summary>
/// <param name="Target">Target of the attempt.</param>
internal sealed record QueryOutcome(byte[]? Value, Lsn Position, string Why, QueryTarget Target);

/// <summary>The target of an attempt is one of the two connections that a client may have.</summary>
internal enum QueryTarget { Primary, Secondary }
