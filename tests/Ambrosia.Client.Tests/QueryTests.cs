using System.Buffers;
using System.Diagnostics;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Client.Tests;

/// <summary>Queries on their way over a client's two connections: which road they take, and what becomes of them when one breaks.</summary>
public sealed class QueryTests
{
    private readonly FakeTime time = new();
    private readonly RequestBook book = new(static _ => { });
    private Lsn seen;
    private int wanted;

    private QueryDesk Desk(QuerySource source) => new(source, position => seen = position) { WantSecondary = () => wanted++ };

    private FakeInstance Connected(QueryDesk desk, QueryRoad road, uint requestsMax = 100)
    {
        var instance = new FakeInstance(road == QueryRoad.Primary ? book : null, desk);
        instance.Heard();
        instance.Welcome(requestsMax);
        return instance;
    }

    private static QueryTry Ask(QueryDesk desk, string text, ulong position = 0, QueryRoad? avoid = null)
    {
        var query = new QueryTry(7, Encoding.UTF8.GetBytes(text), new Lsn(position), 1000, avoid);
        desk.Ask(query);
        return query;
    }

    private static string Outcome(QueryTry query) => query.Completion.Task switch
    {
        { IsCompletedSuccessfully: true } done =>
            done.Result.Value is { } value ? $"{Encoding.UTF8.GetString(value)} at {done.Result.Position}"
            : $"not now: {done.Result.Why} ({done.Result.Road})",
        { IsFaulted: true } failed => failed.Exception!.InnerException!.GetType().Name,
        _ => "waits",
    };

    [Fact]
    public void Queries_AreNumberedByTheirConnection_AndAnsweredInAnyOrder()
    {
        QueryDesk desk = Desk(QuerySource.Any);
        QueryTry early = Ask(desk, "early");
        FakeInstance instance = Connected(desk, QueryRoad.Primary);
        QueryTry a = Ask(desk, "a", 100), b = Ask(desk, "b");
        Assert.Equal(["query 1 at 0 early", "query 2 at 100 a", "query 3 at 0 b"], instance.Heard());
        instance.AnswerQuery(3, "B", position: 200);
        instance.AnswerQuery(2, "A", position: 300);
        instance.AnswerQuery(1, "not CBOR", QueryStatus.Failure);
        Assert.Equal(("B at 200", "A at 300", nameof(RequestFailedException)), (Outcome(b), Outcome(a), Outcome(early)));
        Assert.Equal(new Lsn(4096), seen);
    }

    [Fact]
    public void Query_LongerThanTheInstanceTakes_FailsAndHoldsNobodyUp()
    {
        QueryDesk desk = Desk(QuerySource.Any);
        FakeInstance instance = Connected(desk, QueryRoad.Primary);
        QueryTry a = Ask(desk, "a"), tooLong = Ask(desk, new string('x', (1 << 20) + 1)), b = Ask(desk, "b");
        Assert.Equal(["query 1 at 0 a", "query 2 at 0 b"], instance.Heard());
        Assert.Equal(("waits", nameof(MessageTooLongException), "waits"), (Outcome(a), Outcome(tooLong), Outcome(b)));
    }

    [Theory]
    [InlineData(QuerySource.Primary, "primary")]
    [InlineData(QuerySource.Any, "primary")]
    [InlineData(QuerySource.Secondaries, "secondary")]
    public void Source_WithBothConnections_IsChosen(QuerySource source, string expected)
    {
        QueryDesk desk = Desk(source);
        FakeInstance primary = Connected(desk, QueryRoad.Primary), secondary = Connected(desk, QueryRoad.Secondary);
        Ask(desk, "q");
        Assert.Equal(expected == "primary", primary.Heard().Count == 1);
        Assert.Equal(expected == "secondary", secondary.Heard().Count == 1);
    }

    [Theory]
    [InlineData(QuerySource.Primary, 0)]
    [InlineData(QuerySource.Any, 1)]
    [InlineData(QuerySource.Secondaries, 1)]
    public void Source_WithoutAPrimary_WantsASecondaryOrWaits(QuerySource source, int wants)
    {
        QueryDesk desk = Desk(source);
        QueryTry query = Ask(desk, "q");
        Assert.Equal((wants, wants > 0), (wanted, desk.NeedsSecondary));
        FakeInstance secondary = Connected(desk, QueryRoad.Secondary);
        Assert.Equal(source == QuerySource.Primary ? 0 : 1, secondary.Heard().Count);
        Assert.Equal("waits", Outcome(query));
        FakeInstance primary = Connected(desk, QueryRoad.Primary);
        Assert.Equal(source == QuerySource.Primary ? 1 : 0,
            primary.Heard().Count(static line => line.StartsWith("query", StringComparison.Ordinal)));
    }

    /// <summary>Where one could not be answered, another is asked, if there is one.</summary>
    [Fact]
    public void Query_ThatCouldNotBeAnswered_TakesTheOtherRoad()
    {
        QueryDesk desk = Desk(QuerySource.Any);
        FakeInstance primary = Connected(desk, QueryRoad.Primary);
        QueryTry first = Ask(desk, "q");
        primary.Heard();
        primary.AnswerQuery(1, "behind", QueryStatus.NotNow);
        Assert.Equal("not now: behind (Primary)", Outcome(first));
        Ask(desk, "again", avoid: QueryRoad.Primary);
        Assert.Single(primary.Heard()); // there is no other
        FakeInstance secondary = Connected(desk, QueryRoad.Secondary);
        Ask(desk, "again", avoid: QueryRoad.Primary);
        Assert.Single(secondary.Heard());
    }

    [Fact]
    public void Connection_ThatBreaks_GivesItsQueriesBack()
    {
        QueryDesk desk = Desk(QuerySource.Any);
        FakeInstance primary = Connected(desk, QueryRoad.Primary, requestsMax: 1);
        QueryTry sent = Ask(desk, "sent"), unsent = Ask(desk, "unsent");
        Assert.Single(primary.Heard());
        primary.Conversation.Ended("cut");
        Assert.Equal(("not now: cut (Primary)", "not now: cut (Primary)"), (Outcome(sent), Outcome(unsent)));
        QueryTry later = Ask(desk, "later");
        Assert.Equal(["query 1 at 0 later"], Connected(desk, QueryRoad.Primary).Heard()); // numbers begin anew
        Assert.Equal("waits", Outcome(later));
    }

    [Fact]
    public void Abandoned_WaitingOrUnsent_IsNotSent()
    {
        QueryDesk desk = Desk(QuerySource.Any);
        desk.Abandon(Ask(desk, "waiting"));
        FakeInstance primary = Connected(desk, QueryRoad.Primary, requestsMax: 1);
        QueryTry sent = Ask(desk, "sent");
        desk.Abandon(Ask(desk, "unsent"));
        Assert.Equal(["query 1 at 0 sent"], primary.Heard());
        desk.Abandon(sent);
        primary.AnswerQuery(1, "late");
        Assert.Empty(primary.Heard());
    }

    [Theory]
    [InlineData("nobody asked")]
    [InlineData("too low")]
    public void Instance_ThatAnswersWrongly_BreaksTheProtocol(string how)
    {
        QueryDesk desk = Desk(QuerySource.Any);
        FakeInstance primary = Connected(desk, QueryRoad.Primary);
        Ask(desk, "q", 5000);
        primary.Heard();
        Assert.Equal("P10.9",
            Assert.Throws<ProtocolViolation>(() => primary.AnswerQuery(how == "too low" ? 1u : 9u, "x", position: 4999)).Section);
    }

    [Fact]
    public void End_FailsWhatIsUnderWayAndWhatComes()
    {
        QueryDesk desk = Desk(QuerySource.Any);
        QueryTry waiting = Ask(desk, "waiting");
        desk.End(new ObjectDisposedException("client"));
        Assert.Equal((nameof(ObjectDisposedException), nameof(ObjectDisposedException)), (Outcome(waiting), Outcome(Ask(desk, "late"))));
    }

    [Fact]
    public async Task Loop_AsksUntilThereIsAnAnswer()
    {
        QueryDesk desk = Desk(QuerySource.Any);
        FakeInstance primary = Connected(desk, QueryRoad.Primary);
        Task<QueryOutcome> asked = new QueryLoop(desk, TimeSpan.FromDays(1), time).AskAsync(7, "q"u8.ToArray(), default, default);
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
        QueryDesk desk = Desk(QuerySource.Any);
        FakeInstance primary = Connected(desk, QueryRoad.Primary);
        Task<QueryOutcome> asked = new QueryLoop(desk, TimeSpan.FromDays(1), time).AskAsync(7, "q"u8.ToArray(), default, default);
        await HeardAsync(primary);
        primary.AnswerQuery(1, "it is behind", QueryStatus.NotNow);
        await HeardAsync(primary);
        // once may be before it waits
        for (var patience = Stopwatch.StartNew(); !asked.IsCompleted && patience.Elapsed < TimeSpan.FromSeconds(30); await Task.Yield())
            time.Advance(TimeSpan.FromDays(1));
        TimeoutException late = await Assert.ThrowsAsync<TimeoutException>(() => asked);
        Assert.Equal("The query was not answered within 86400 s: it is behind.", late.Message);
    }

    [Fact]
    public async Task Loop_Cancelled_LeavesNothingBehind()
    {
        QueryDesk desk = Desk(QuerySource.Any);
        using var cancel = new CancellationTokenSource();
        Task<QueryOutcome> asked = new QueryLoop(desk, TimeSpan.FromSeconds(2), time).AskAsync(7, "q"u8.ToArray(), default, cancel.Token);
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => asked);
        Assert.Empty(Connected(desk, QueryRoad.Primary).Heard());
    }

    /// <summary>
    /// The loop goes on on threads of its own, whenever they run; its pauses pass when the time is moved, its day does not.
    /// </summary>
    private async Task<List<string>> HeardAsync(FakeInstance instance)
    {
        for (var patience = Stopwatch.StartNew(); patience.Elapsed < TimeSpan.FromSeconds(30);)
        {
            if (instance.Heard() is { Count: > 0 } heard) return heard;
            time.Advance(TimeSpan.FromMilliseconds(1));
            await Task.Yield();
        }
        throw new TimeoutException("nothing was asked");
    }
}
