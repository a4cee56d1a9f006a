using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>
/// Asks until there is an answer: at another replica, or again after a pause, for as long as there is time. The only place of
/// queries that looks at a clock.
/// </summary>
internal sealed class QueryLoop(QueryDesk desk, TimeSpan within, TimeProvider time)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);

    /// <summary>A replica may wait so long for a position before another one is asked, in ms.</summary>
    private const double PatienceMs = 1_000;

    /// <exception cref="TimeoutException">There was no answer in time; the message says why.</exception>
    internal async Task<QueryOutcome> AskAsync(uint method, byte[] arguments, Lsn position, CancellationToken cancellationToken)
    {
        long begun = time.GetTimestamp();
        string why = "no replica is connected";
        QueryRoad? avoid = null;
        while (true)
        {
            TimeSpan left = within - time.GetElapsedTime(begun);
            if (left <= TimeSpan.Zero) throw new TimeoutException($"The query was not answered within {within.TotalSeconds:0.#} s: {why}.");
            var query = new QueryTry(method, arguments, position, (uint)Math.Min(PatienceMs, left.TotalMilliseconds), avoid);
            desk.Ask(query);
            try
            {
                QueryOutcome outcome = await query.Completion.Task.WaitAsync(left, time, cancellationToken).ConfigureAwait(false);
                if (outcome.Value is not null) return outcome;
                why = outcome.Why;
                avoid = outcome.Road;
            }
            catch (TimeoutException)
            {
                desk.Abandon(query);
                continue; // which says so
            }
            catch (OperationCanceledException)
            {
                desk.Abandon(query);
                throw;
            }
            await Task.Delay(s_pause, time, cancellationToken).ConfigureAwait(false);
        }
    }
}
