using Ambrosia.Protocol;

namespace Ambrosia.Client.Queries;

/// <summary>
/// Repeats a query until there is an answer: at another replica, or again after a pause, for as long as there is time. No other part of the
/// queries looks at a clock. Any thread may call it.
/// </summary>
internal sealed class QueryRetrier(QueryRouter router, TimeSpan within, TimeProvider time)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);

    /// <summary>A replica may wait this long for a position before another one is asked, in ms.</summary>
    private const double PatienceMs = 1_000;

    /// <summary>Asks a query and returns its answer.</summary>
    /// <exception cref="TimeoutException">There was no answer in time; the message says why.</exception>
    internal async Task<QueryOutcome> AskAsync(uint method, byte[] arguments, Lsn position, CancellationToken cancellationToken)
    {
        long begun = time.GetTimestamp();
        string why = "no replica is connected";
        QueryTarget? avoid = null;
        while (true)
        {
            TimeSpan left = within - time.GetElapsedTime(begun);
            if (left <= TimeSpan.Zero) throw new TimeoutException($"The query was not answered within {within.TotalSeconds:0.#} s: {why}.");
            var query = new QueryAttempt(method, arguments, position, (uint)Math.Min(PatienceMs, left.TotalMilliseconds), avoid);
            router.Ask(query);
            try
            {
                QueryOutcome outcome = await query.Completion.Task.WaitAsync(left, time, cancellationToken).ConfigureAwait(false);
                if (outcome.Value is not null) return outcome;
                why = outcome.Why;
                avoid = outcome.Target;
            }
            catch (TimeoutException)
            {
                router.Abandon(query);
                continue; // the next round finds that no time is left and says so
            }
            catch (OperationCanceledException)
            {
                router.Abandon(query);
                throw;
            }
            await Task.Delay(s_pause, time, cancellationToken).ConfigureAwait(false);
        }
    }
}

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
