using System.Buffers;
using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What the coordinator logs for its app besides messages: timers that are due, results of tasks.</summary>
public sealed class TimersAndTasksTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);
    private readonly SimulatedFileSystem disk = new();
    private readonly FakeTime time = new();
    private readonly Node node;

    public TimersAndTasksTests() => node = new Node(disk, time, OpenedLog.Small);

    private long NowUs => (time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;

    private TimerSet In(ulong timer, TimeSpan span) => new(timer, NowUs + span.Ticks / TimeSpan.TicksPerMicrosecond);

    private List<TimerFiredRecord> Fired(SpokenApp app)
    {
        node.Commit();
        app.Listen();
        return [
            .. app.Records.Where(static record => record.Kind == RecordKind.TimerFired)
                .Select(static record => TimerFiredRecord.Read(record.Body))];
    }

    [Fact]
    public void FireTimers_WhenOneIsDue_LogsItOnceAndSaysWhenToComeBack()
    {
        var app = new SpokenApp(node);
        app.Lead();
        TimerSet first = In(1, TimeSpan.FromMilliseconds(30)), second = In(2, Minute);
        app.Say(second);
        Assert.Equal(TimeSpan.FromSeconds(1), node.Parts.FireTimers()); // never longer: the wall clock may be set
        app.Say(first);
        Assert.Equal(TimeSpan.FromMilliseconds(30), node.Parts.FireTimers());
        time.Advance(TimeSpan.FromMilliseconds(29.5));
        Assert.Equal(TimeSpan.FromMilliseconds(1), node.Parts.FireTimers());
        Assert.Empty(Fired(app));

        time.Advance(TimeSpan.FromMilliseconds(0.5));
        node.Parts.FireTimers();
        node.Parts.FireTimers();
        Assert.Equal([new TimerFiredRecord(1, first.DueUs)], Fired(app));

        app.Say(new TimerDropped(1));
        app.Say(new TimerDropped(2));
        time.Advance(Minute);
        Assert.Equal(Timeout.InfiniteTimeSpan, node.Parts.FireTimers());
        Assert.Single(Fired(app));
    }

    [Fact]
    public void FireTimers_BeforeTheAppIsPrimary_LogsNothing()
    {
        var app = new SpokenApp(node);
        app.Say(In(1, TimeSpan.Zero));
        Assert.Equal(Timeout.InfiniteTimeSpan, node.Parts.FireTimers());
        app.Lead();

        node.Parts.FireTimers();

        Assert.Single(Fired(app));
    }

    /// <summary>The app of a new session says what waits; what an app that died waited for is not asked.</summary>
    [Fact]
    public void FireTimers_OfANewSession_KnowsItsTimersAlone()
    {
        var first = new SpokenApp(node);
        first.Lead();
        first.Say(In(1, Minute));
        first.Say(In(2, Minute));
        first.End();
        var second = new SpokenApp(node);
        second.Say(In(2, Minute));
        second.Lead();
        time.Advance(Minute);

        node.Parts.FireTimers();

        Assert.Equal(2ul, Assert.Single(Fired(second)).Timer);
    }

    /// <summary>
    /// A timer fires in the log and in its app's next session, whether the record was executed before the app died or not:
    /// the app tells them apart.
    /// </summary>
    [Fact]
    public void FireTimers_LoggedBeforeTheAppDied_IsLoggedAgainForTheNextThatWaits()
    {
        var first = new SpokenApp(node);
        first.Lead();
        TimerSet timer = In(1, TimeSpan.Zero);
        first.Say(timer);
        node.Parts.FireTimers();
        first.End();
        var second = new SpokenApp(node);
        second.Lead();
        second.Say(timer);
        node.Parts.FireTimers();

        Assert.Equal(2, Fired(second).Count);
    }

    [Fact]
    public void FireTimers_LogIsFull_TriesAgain()
    {
        var app = new SpokenApp(node);
        app.Lead();
        for (ulong timer = 1; timer <= 5000; timer++) app.Say(In(timer, TimeSpan.Zero));

        int rounds = 0;
        while (node.Parts.FireTimers() != Timeout.InfiniteTimeSpan)
        {
            node.Commit();
            Assert.True(++rounds < 1000, "it comes to an end");
        }

        Assert.True(rounds > 1, "the log was never full");
        Assert.Equal(Enumerable.Range(1, 5000).Select(static n => (ulong)n), Fired(app).Select(static fired => fired.Timer));
    }

    [Fact]
    public void FireTimers_OfASecondary_LogsNothing()
    {
        var app = new SpokenApp(node);
        app.Lead();
        node.Commit();
        var secondary = new Node(disk, time, OpenedLog.Small, "r1");
        var follower = new SpokenApp(secondary);
        follower.Say(In(1, TimeSpan.Zero));

        Assert.Equal(Timeout.InfiniteTimeSpan, secondary.Parts.FireTimers());
        Assert.Equal("P5.15", Assert.Throws<ProtocolViolation>(() => follower.Say(Result(1, [1]))).Section);
    }

    private static byte[] Result(ulong task, byte[] value, bool failed = false)
    {
        var payload = new ArrayBufferWriter<byte>();
        TaskResult.WriteHead(payload, task, failed);
        payload.Write(value);
        return Made.Frame(FrameType.TaskResult, payload.WrittenSpan);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(100_000)]
    public void TaskResult_OfAPrimary_IsLoggedAndDeliveredWhole(int bytes)
    {
        var app = new SpokenApp(node);
        app.Lead();
        byte[] value = Enumerable.Range(0, bytes).Select(static i => (byte)i).ToArray();
        for (ulong task = 1; task <= 3; task++)
        {
            ReadAnswer answer = app.Say(Result(task, value, failed: task == 2));
            for (int i = 0; answer == ReadAnswer.LogFull; i++)
            {
                Assert.True(i < 1000, "room comes");
                node.Commit();
                answer = app.Again();
            }
        }
        node.Commit();
        app.Listen();

        NondetResultRecord[] logged = [
            .. app.Records.Where(static record => record.Kind == RecordKind.NondetResult)
                .Select(static record => NondetResultRecord.Read(record.Body))];
        Assert.Equal(
            [new NondetResultRecord(1, false, value), new NondetResultRecord(2, true, value), new NondetResultRecord(3, false, value)],
            logged);
    }

    [Fact]
    public void TaskResult_BeforeBecomePrimary_IsMalformed()
    {
        var app = new SpokenApp(node, listens: false);

        Assert.Equal("P5.15", Assert.Throws<ProtocolViolation>(() => app.Say(Result(1, [1]))).Section);
    }
}
