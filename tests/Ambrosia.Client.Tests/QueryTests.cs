using System.Buffers;
using System.Diagnostics;
using System.Text;
using Ambrosia.Client.Queries;
using Ambrosia.Client.Requests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.TestKit;

namespace Ambrosia.Client.Tests;

/// <summary>
/// Queries on their way over a client's two connections: which target they take, and what becomes of them when one breaks.
/// </summary>
public sealed class QueryTests
{
    private readonly FakeTime _time = new();
    private readonly InFlightRequests _requests = new(static _ => { });
    private Lsn _seen;
    private int _wanted;

    private QueryRouter Router(QuerySource source) => new(source, position => _seen = position, () => _wanted++);

    private FakeInstance Connected(QueryRouter router, QueryTarget target, uint requestsMax = 100)
    {
        var instance = new FakeInstance(target == QueryTarget.Primary ? _requests : null, router);
        instance.Heard();
        instance.Welcome(requestsMax);
        return instance;
    }

    private static QueryAttempt Ask(QueryRouter router, string text, ulong position = 0, QueryTarget? avoid = null)
    {
        var query = new QueryAttempt(7, Encoding.UTF8.GetBytes(text), new Lsn(position), 1000, avoid);
        router.Ask(query);
        return query;
    }

    private static string Outcome(QueryAttempt query) => query.Completion.Task switch
    {
        { IsCompletedSuccessfully: true } done =>
            done.Result.Value is { } value ? $"{Encoding.UTF8.GetString(value)} at {done.Result.Position}"
            : $"not now: {done.Result.Why} ({done.Result.Target})",
        { IsFaulted: true } failed => failed.Exception!.InnerException!.GetType().Name,
        _ => "waits",
    };

    [Fact]
    public void Queries_AreNumberedByTheirConnection_AndAnsweredInAnyOrder()
    {
        QueryRouter router = Router(QuerySource.Any);
        QueryAttempt early = Ask(router, "early");
        FakeInstance instance = Connected(router, QueryTarget.Primary);
        QueryAttempt a = Ask(router, "a", 100), b = Ask(router, "b");
        Assert.Equal(["query 1 at 0 early", "query 2 at 100 a", "query 3 at 0 b"], instance.Heard());
        instance.AnswerQuery(3, "B", position: 200);
        instance.AnswerQuery(2, "A", position: 300);
        instance.AnswerQuery(1, "not CBOR", QueryStatus.Failure);
        Assert.Equal(("B at 200", "A at 300", nameof(RequestFailedException)), (Outcome(b), Outcome(a), Outcome(early)));
        Assert.Equal(new Lsn(4096), _seen);
    }

    [Fact]
    public void Query_LongerThanTheInstanceTakes_FailsAndHoldsNobodyUp()
    {
        QueryRouter router = Router(QuerySource.Any);
        FakeInstance instance = Connected(router, QueryTarget.Primary);
        QueryAttempt a = Ask(router, "a"), tooLong = Ask(router, new string('x', (1 << 20) + 1)), b = Ask(router, "b");
        Assert.Equal(["query 1 at 0 a", "query 2 at 0 b"], instance.Heard());
        Assert.Equal(("waits", nameof(MessageTooLongException), "waits"), (Outcome(a), Outcome(tooLong), Outcome(b)));
    }

    [Theory]
    [InlineData(QuerySource.Primary, "primary")]
    [InlineData(QuerySource.Any, "primary")]
    [InlineData(QuerySource.Secondaries, "secondary")]
    public void Source_WithBothConnections_IsChosen(QuerySource source, string expected)
    {
        QueryRouter router = Router(source);
        FakeInstance primary = Connected(router, QueryTarget.Primary), secondary = Connected(router, QueryTarget.Secondary);
        Ask(router, "q");
        Assert.Equal(expected == "primary", primary.Heard().Count == 1);
        Assert.Equal(expected == "secondary", secondary.Heard().Count == 1);
    }

    [Theory]
    [InlineData(QuerySource.Primary, 0)]
    [InlineData(QuerySource.Any, 1)]
    [InlineData(QuerySource.Secondaries, 1)]
    public void Source_WithoutAPrimary_WantsASecondaryOrWaits(QuerySource source, int wants)
    {
        QueryRouter router = Router(source);
        QueryAttempt query = Ask(router, "q");
        Assert.Equal((wants, wants > 0), (_wanted, router.NeedsSecondary));
        FakeInstance secondary = Connected(router, QueryTarget.Secondary);
        Assert.Equal(source == QuerySource.Primary ? 0 : 1, secondary.Heard().Count);
        Assert.Equal("waits", Outcome(query));
        FakeInstance primary = Connected(router, QueryTarget.Primary);
        Assert.Equal(source == QuerySource.Primary ? 1 : 0,
            primary.Heard().Count(static line => line.StartsWith("query", StringComparison.Ordinal)));
    }

    /// <summary>Where one could not be answered, another is asked, if there is one.</summary>
    [Fact]
    public void Query_ThatCouldNotBeAnswered_TakesTheOtherRoad()
    {
        QueryRouter router = Router(QuerySource.Any);
        FakeInstance primary = Connected(router, QueryTarget.Primary);
        QueryAttempt first = Ask(router, "q");
        primary.Heard();
        primary.AnswerQuery(1, "behind", QueryStatus.NotNow);
        Assert.Equal("not now: behind (Primary)", Outcome(first));
        Ask(router, "again", avoid: QueryTarget.Primary);
        Assert.Single(primary.Heard()); // there is no other
        FakeInstance secondary = Connected(router, QueryTarget.Secondary);
        Ask(router, "again", avoid: QueryTarget.Primary);
        Assert.Single(secondary.Heard());
    }

    [Fact]
    public void Connection_ThatBreaks_GivesItsQueriesBack()
    {
        QueryRouter router = Router(QuerySource.Any);
        FakeInstance primary = Connected(router, QueryTarget.Primary, requestsMax: 1);
        QueryAttempt sent = Ask(router, "sent"), unsent = Ask(router, "unsent");
        Assert.Single(primary.Heard());
        primary.Connection.Ended("cut");
        Assert.Equal(("not now: cut (Primary)", "not now: cut (Primary)"), (Outcome(sent), Outcome(unsent)));
        QueryAttempt later = Ask(router, "later");
        Assert.Equal(["query 1 at 0 later"], Connected(router, QueryTarget.Primary).Heard()); // numbers begin anew
        Assert.Equal("waits", Outcome(later));
    }

    [Fact]
    public void Abandoned_WaitingOrUnsent_IsNotSent()
    {
        QueryRouter router = Router(QuerySource.Any);
        router.Abandon(Ask(router, "waiting"));
        FakeInstance primary = Connected(router, QueryTarget.Primary, requestsMax: 1);
        QueryAttempt sent = Ask(router, "sent");
        router.Abandon(Ask(router, "unsent"));
        Assert.Equal(["query 1 at 0 sent"], primary.Heard());
        router.Abandon(sent);
        primary.AnswerQuery(1, "late");
        Assert.Empty(primary.Heard());
    }

    [Theory]
    [InlineData("nobody asked")]
    [InlineData("too low")]
    public void Instance_ThatAnswersWrongly_BreaksTheProtocol(string how)
    {
        QueryRouter router = Router(QuerySource.Any);
        FakeInstance primary = Connected(router, QueryTarget.Primary);
        Ask(router, "q", 5000);
        primary.Heard();
        Assert.Equal("P10.9",
            Assert.Throws<ProtocolViolation>(() => primary.AnswerQuery(how == "too low" ? 1u : 9u, "x", position: 4999)).Section);
    }

    [Fact]
    public void End_FailsWhatIsUnderWayAndWhatComes()
    {
        QueryRouter router = Router(QuerySource.Any);
        QueryAttempt waiting = Ask(router, "waiting");
        router.End(new ObjectDisposedException("client"));
        Assert.Equal((nameof(ObjectDisposedException), nameof(ObjectDisposedException)), (Outcome(waiting), Outcome(Ask(router, "late"))));
    }

    [Fact]
    public async Task Loop_AsksUntilThereIsAnAnswer()
    {
        QueryRouter router = Router(QuerySource.Any);
        FakeInstance primary = Connected(router, QueryTarget.Primary);
        Task<QueryOutcome> asked = new QueryRetrier(router, TimeSpan.FromDays(1), _time).AskAsync(7, "q"u8.ToArray(), default, default);
        for (ulong query = 1; query < 4; query++)
        {
            Assert.Equal([$"query {query} at 0 q"], await HeardAsync(primary));
            primary.AnswerQuery(query, "not yet", QueryStatus.NotNow);
        }
        Assert.Equal(["query 4 at 0 q"], await HeardAsync(primary));
        primary.AnswerQuery(4, "yes");
        Assert.Equal("yes", Encoding.UTF8.GetString((await asked).Value!));
    }

    [Fact]
    public async Task Loop_WhoseTimeIsOver_SaysWhyThereWasNoAnswer()
    {
        QueryRouter router = Router(QuerySource.Any);
        FakeInstance primary = Connected(router, QueryTarget.Primary);
        Task<QueryOutcome> asked = new QueryRetrier(router, TimeSpan.FromDays(1), _time).AskAsync(7, "q"u8.ToArray(), default, default);
        await HeardAsync(primary);
        primary.AnswerQuery(1, "it is behind", QueryStatus.NotNow);
        await HeardAsync(primary);
        // once may be before it waits
        for (var patience = Stopwatch.StartNew(); !asked.IsCompleted && patience.Elapsed < TimeSpan.FromSeconds(30); await Task.Yield())
            _time.Advance(TimeSpan.FromDays(1));
        TimeoutException late = await Assert.ThrowsAsync<TimeoutException>(() => asked);
        Assert.Equal("The query was not answered within 86400 s: it is behind.", late.Message);
    }

    [Fact]
    public async Task Loop_Cancelled_LeavesNothingBehind()
    {
        QueryRouter router = Router(QuerySource.Any);
        using var cancel = new CancellationTokenSource();
        Task<QueryOutcome> asked = new QueryRetrier(router, TimeSpan.FromSeconds(2), _time)
            .AskAsync(7, "q"u8.ToArray(), default, cancel.Token);
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => asked);
        Assert.Empty(Connected(router, QueryTarget.Primary).Heard());
    }

    /// <summary>
    /// The loop goes on on threads of its own, whenever they run; its pauses pass when the time is moved, its day does not.
    /// </summary>
    private async Task<List<string>> HeardAsync(FakeInstance instance)
    {
        for (var patience = Stopwatch.StartNew(); patience.Elapsed < TimeSpan.FromSeconds(30);)
        {
            if (instance.Heard() is { Count: > 0 } heard) return heard;
            _time.Advance(TimeSpan.FromMilliseconds(1));
            await Task.Yield();
        }
        throw new TimeoutException("nothing was asked");
    }
}
