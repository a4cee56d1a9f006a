using System.Buffers;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What the coordinator logs for its app besides messages: timers that are due, results of tasks.</summary>
public sealed class TimersAndTasksTests
{
    private static readonly TimeSpan s_minute = TimeSpan.FromMinutes(1);
    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();
    private readonly Node _node;

    public TimersAndTasksTests() => _node = new Node(_disk, _time, OpenedLog.Small);

    private long NowUs => (_time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;

    private TimerSet In(ulong timer, TimeSpan span) => new(timer, NowUs + span.Ticks / TimeSpan.TicksPerMicrosecond);

    private List<TimerFiredRecord> Fired(SpokenApp app)
    {
        _node.Commit();
        app.Listen();
        return [
            .. app.Records.Where(static record => record.Kind == RecordKind.TimerFired)
                .Select(static record => TimerFiredRecord.Read(record.Body))];
    }

    [Fact]
    public void FireTimers_WhenOneIsDue_LogsItOnceAndSaysWhenToComeBack()
    {
        var app = new SpokenApp(_node);
        app.BecomePrimary();
        TimerSet first = In(1, TimeSpan.FromMilliseconds(30)), second = In(2, s_minute);
        app.Send(second);
        Assert.Equal(TimeSpan.FromSeconds(1), _node.Parts.FireTimers()); // never longer: the wall clock may be set
        app.Send(first);
        Assert.Equal(TimeSpan.FromMilliseconds(30), _node.Parts.FireTimers());
        _time.Advance(TimeSpan.FromMilliseconds(29.5));
        Assert.Equal(TimeSpan.FromMilliseconds(1), _node.Parts.FireTimers());
        Assert.Empty(Fired(app));

        _time.Advance(TimeSpan.FromMilliseconds(0.5));
        _node.Parts.FireTimers();
        _node.Parts.FireTimers();
        Assert.Equal([new TimerFiredRecord(1, first.DueUs)], Fired(app));

        app.Send(new TimerDropped(1));
        app.Send(new TimerDropped(2));
        _time.Advance(s_minute);
        Assert.Equal(Timeout.InfiniteTimeSpan, _node.Parts.FireTimers());
        Assert.Single(Fired(app));
    }

    [Fact]
    public void FireTimers_BeforeTheAppIsPrimary_LogsNothing()
    {
        var app = new SpokenApp(_node);
        app.Send(In(1, TimeSpan.Zero));
        Assert.Equal(Timeout.InfiniteTimeSpan, _node.Parts.FireTimers());
        app.BecomePrimary();

        _node.Parts.FireTimers();

        Assert.Single(Fired(app));
    }

    /// <summary>The app of a new session says what waits; what an app that died waited for is not asked.</summary>
    [Fact]
    public void FireTimers_OfANewSession_KnowsItsTimersAlone()
    {
        var first = new SpokenApp(_node);
        first.BecomePrimary();
        first.Send(In(1, s_minute));
        first.Send(In(2, s_minute));
        first.End();
        var second = new SpokenApp(_node);
        second.Send(In(2, s_minute));
        second.BecomePrimary();
        _time.Advance(s_minute);

        _node.Parts.FireTimers();

        Assert.Equal(2ul, Assert.Single(Fired(second)).Timer);
    }

    /// <summary>A timer is late by no more than a tenth of its time, whatever happens to the wall clock meanwhile.</summary>
    [Theory]
    [InlineData(-25)]
    [InlineData(25)]
    public void FireTimers_ClockSetByHours_FireInTheirTime(int hours)
    {
        var app = new SpokenApp(_node);
        app.BecomePrimary();
        app.Send(In(1, s_minute));
        _node.Parts.FireTimers();
        _time.ShiftWallClock(TimeSpan.FromHours(hours));
        _time.Advance(s_minute * 0.9);
        _node.Parts.FireTimers();
        Assert.Empty(Fired(app));
        _time.Advance(s_minute * 0.22);
        _node.Parts.FireTimers();
        Assert.Single(Fired(app));
    }

    /// <summary>
    /// A timer fires in the log and in its app's next session, whether the record was executed before the app died or not:
    /// the app tells them apart.
    /// </summary>
    [Fact]
    public void FireTimers_LoggedBeforeTheAppDied_IsLoggedAgainForTheNextThatWaits()
    {
        var first = new SpokenApp(_node);
        first.BecomePrimary();
        TimerSet timer = In(1, TimeSpan.Zero);
        first.Send(timer);
        _node.Parts.FireTimers();
        first.End();
        var second = new SpokenApp(_node);
        second.BecomePrimary();
        second.Send(timer);
        _node.Parts.FireTimers();

        Assert.Equal(2, Fired(second).Count);
    }

    [Fact]
    public void FireTimers_LogIsFull_TriesAgain()
    {
        var app = new SpokenApp(_node);
        app.BecomePrimary();
        for (ulong timer = 1; timer <= 5000; timer++) app.Send(In(timer, TimeSpan.Zero));

        int rounds = 0;
        while (_node.Parts.FireTimers() != Timeout.InfiniteTimeSpan)
        {
            _node.Commit();
            Assert.True(++rounds < 1000, "it comes to an end");
        }

        Assert.True(rounds > 1, "the log was never full");
        Assert.Equal(Enumerable.Range(1, 5000).Select(static n => (ulong)n), Fired(app).Select(static fired => fired.Timer));
    }

    [Fact]
    public void FireTimers_OfASecondary_LogsNothing()
    {
        var app = new SpokenApp(_node);
        app.BecomePrimary();
        _node.Commit();
        var secondary = new Node(_disk, _time, OpenedLog.Small, "r1");
        var follower = new SpokenApp(secondary);
        follower.Send(In(1, TimeSpan.Zero));

        Assert.Equal(Timeout.InfiniteTimeSpan, secondary.Parts.FireTimers());
        Assert.Equal("P5.15", Assert.Throws<ProtocolViolation>(() => follower.Send(Result(1, [1]))).Section);
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
        var app = new SpokenApp(_node);
        app.BecomePrimary();
        byte[] value = Enumerable.Range(0, bytes).Select(static i => (byte)i).ToArray();
        for (ulong task = 1; task <= 3; task++)
        {
            ReadAnswer answer = app.Send(Result(task, value, failed: task == 2));
            for (int i = 0; answer == ReadAnswer.LogFull; i++)
            {
                Assert.True(i < 1000, "room comes");
                _node.Commit();
                answer = app.Again();
            }
        }
        _node.Commit();
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
        var app = new SpokenApp(_node, listens: false);

        Assert.Equal("P5.15", Assert.Throws<ProtocolViolation>(() => app.Send(Result(1, [1]))).Section);
    }
}
