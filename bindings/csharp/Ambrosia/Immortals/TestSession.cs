using System.Runtime.ExceptionServices;
using Ambrosia.Calls;
using Ambrosia.Immortals;
using Ambrosia.Impulses;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Proxies;
using Ambrosia.Replay;
using Ambrosia.Tasks;
using Ambrosia.Testing;
using Ambrosia.Timers;

namespace Ambrosia;

/// <summary>
/// Stands for all that is outside of one immortal in a unit test. There is no log and no coordinator: the test makes the immortal and calls
/// its methods, which run at once. Calls through proxies are recorded and answered by the test, time passes when the test says so, and
/// chance has a seed. It may be used by one thread at a time.
/// </summary>
public sealed class TestSession
{
    private const int ImpulseBytesMax = 1 << 20;

    private static readonly DateTimeOffset s_begin = new(2000, 1, 1, 0, 0, 0, TimeSpan.Zero);

    private readonly OutboundBuffer _unsent = new();
    private readonly List<string> _lines = [];
    private ImmortalContext? _context;
    private CallRecorder? _recorder;
    private Immortal? _immortal;

    /// <summary>The first failure of a periodic timer's handler that nobody was told.</summary>
    private Exception? _unheard;

    /// <summary>The name of the instance; "test" unless it is given.</summary>
    public string InstanceName { get; init; } = "test";

    /// <summary>The seed of the immortal's <c>Random</c> and <c>NewGuid()</c>.</summary>
    public int Seed { get; init; }

    /// <summary>The time at which the immortal is made; the beginning of the year 2000 unless it is given.</summary>
    public DateTimeOffset Begin { get; init; } = s_begin;

    /// <summary>The services that bodies of tasks get; null: none.</summary>
    public IServiceProvider? Services { get; init; }

    /// <summary>The immortal's time. <see cref="Advance"/> lets it pass.</summary>
    public DateTimeOffset Now => DateTimeOffset.UnixEpoch.AddMicroseconds(Context.Replay.NowUs);

    /// <summary>The calls that the immortal has made since the beginning, or since <see cref="ClearCalls"/>, in their order.</summary>
    public IReadOnlyList<RecordedCall> Calls
    {
        get
        {
            GoOn();
            return _recorder!.Calls;
        }
    }

    /// <summary>The tasks that have no result yet, in the order in which they were begun.</summary>
    public IReadOnlyList<RecordedTask> Tasks
    {
        get
        {
            GoOn();
            return [.. Context.Tasks.All.Select(task => new RecordedTask(Context.Tasks, Context.Replay.Scheduler, task, Services))];
        }
    }

    /// <summary>The lines that the immortal wrote to its <c>Logger</c>.</summary>
    public IReadOnlyList<string> LogLines => _lines;

    private ImmortalContext Context => _context ?? throw new InvalidOperationException("The session has no immortal yet: Make one.");

    /// <summary>Gives the session of an immortal that a test made by <c>new</c>.</summary>
    /// <exception cref="ArgumentException">The immortal lives in a process of its own, and not in a test.</exception>
    public static TestSession Of(Immortal immortal)
    {
        ArgumentNullException.ThrowIfNull(immortal);
        return immortal.Context.Test ?? throw new ArgumentException("The immortal has a session of its process.", nameof(immortal));
    }

    /// <summary>Makes the immortal as the first record of a log does: its constructor runs, then <c>OnFirstStart</c>.</summary>
    /// <exception cref="InvalidOperationException">The session has an immortal already.</exception>
    public T Make<T>(Func<T> make)
        where T : Immortal
    {
        ArgumentNullException.ThrowIfNull(make);
        var made = (T)ImmortalHost.Constructed(NewContext(), make);
        _immortal = made;
        made.RunFirstStart();
        GoOn();
        return made;
    }

    /// <summary>
    /// Lets time pass. Each timer that becomes due meanwhile fires at its time, in the order of times, and what waited for it goes on.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">A negative time.</exception>
    public void Advance(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
        GoOn();
        ReplayContext replay = Context.Replay;
        long until = replay.NowUs + time.Ticks / TimeSpan.TicksPerMicrosecond;
        while (Context.Timers.All.Where(static timer => timer.IsArmed).MinBy(static timer => timer.DueUs) is { } due && due.DueUs <= until)
        {
            replay.AdvanceTo(due.DueUs);
            Context.Timers.Fire(new TimerFiredRecord(due.Number, due.DueUs));
            GoOn();
        }
        replay.AdvanceTo(until);
    }

    /// <summary>Forgets the recorded calls. Those that are awaited can still be answered by whoever holds them.</summary>
    public void ClearCalls()
    {
        GoOn();
        _recorder!.Clear();
    }

    /// <summary>Makes the context of an immortal whose constructor runs outside of all sessions.</summary>
    internal ImmortalContext ContextFor(Immortal made)
    {
        _immortal = made;
        return NewContext();
    }

    private ImmortalContext NewContext()
    {
        if (_context is not null) throw new InvalidOperationException("The session has an immortal already: one session, one immortal.");
        var scheduler = new Scheduler(new TestTimers(this)) { IsOfTest = true };
        scheduler.EnterTest();
        var replay = new ReplayContext(new Guid(Seed, 0, 0, new byte[8]), scheduler);
        replay.AdvanceTo((Begin - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond);
        _recorder = new CallRecorder(scheduler);
        // It is never opened: what is no function of the log does not run by itself in a test.
        var impulses = new ImpulseIngress(new ImpulseOutbox(ImpulseBytesMax), _unsent);
        _context = new ImmortalContext(
            new InstanceId(InstanceName), new MessageSender(scheduler, _unsent, impulses) { Recorder = _recorder }, replay,
            new OutstandingTimers(_unsent, replay, () => _immortal!, (_, failure) => _unheard ??= failure),
            new OutstandingTasks(replay, Guid.Empty, new TaskReports(impulses, _unsent, static _ => { }), runner: null, Attach),
            new ImmortalLogger(static () => true, logsReplay: true, (_, line) => _lines.Add(line)))
        {
            Test = this,
        };
        return _context;
    }

    private void Attach(object proxy, InstanceId instance) => ((ImmortalProxy)proxy).Attach(Context.TargetOf(instance));

    /// <summary>Lets everything that is ready go on, and throws what failed where no caller is told.</summary>
    private void GoOn()
    {
        Scheduler scheduler = Context.Replay.Scheduler;
        scheduler.EnterTest();
        scheduler.Drain();
        while (_unsent.TryTake(out ReadOnlyMemory<byte> frames)) _unsent.Taken(frames.Length); // what a coordinator would be told
        if (_unheard is not { } failure) return;
        _unheard = null;
        ExceptionDispatchInfo.Throw(failure);
    }

    /// <summary>Begins and ends the timers of deadlines. Nobody is owed an answer: a test holds the Call that a handler returned.</summary>
    private sealed class TestTimers(TestSession session) : IHandlerSession
    {
        Source<Nothing> IHandlerSession.BeginDelay(TimeSpan time) => session.Context.Timers.Delay(time);

        void IHandlerSession.FailedUnawaited(Source failed)
        {
        }

        void IHandlerSession.CancelDelay(Source<Nothing> timer) => session.Context.Timers.Cancel((DelayTimer)timer);

        void IHandlerSession.SendOwed(Source owed) => throw new InvalidOperationException("A test owes no answer.");
    }
}
