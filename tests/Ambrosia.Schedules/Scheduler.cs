
namespace Ambrosia.Schedules;

/// <summary>
/// Runs the threads of a small closed world one at a time. Before each synchronising step the running thread asks which thread is to take
/// the next one; the strategy chooses among those that can. So a schedule is the list of these choices, and the same list is the same run.
/// A schedule in which no thread can go on has ended: well if all threads are over but those of the background, else in a deadlock. Nothing
/// here is locked: what the threads share belongs to whoever has the baton.
/// </summary>
public sealed class Scheduler
{
    /// <summary>The number of the thread that builds the world and judges it, alone.</summary>
    internal const int Serial = 0;

    /// <summary>A schedule of more steps is a livelock: worlds take some hundreds.</summary>
    private const int StepsMax = 20_000;

    private const int ThreadsMax = 64, TimeoutsMax = 3;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    [ThreadStatic]
    private static ControlledThread? s_current;

    private readonly List<ControlledThread> _all = [];
    private readonly Alternative[] _alternatives = new Alternative[2 * ThreadsMax];
    private readonly Baton _ended = new();
    private readonly ControlledThread _serial;
    private int _count;
    private IStrategy _strategy = null!;
    private Timeouts _timeouts;
    private int _timeoutsTaken;
    private bool _isSerial = true;
    private volatile bool _isAborting;
    private Failure? _failure;

    public Scheduler() => _serial = new ControlledThread(this, Serial);

    /// <summary>The choices of this schedule so far.</summary>
    public List<Alternative> Choices { get; } = [];

    public int Steps { get; private set; }

    /// <summary>Tells apart schedules that differ in any step.</summary>
    public ulong StepHash { get; private set; }

    /// <summary>Hears each step, when a failure is repeated to be shown.</summary>
    public Action<ControlledThread, StepKind>? Traced { get; set; }

    internal static ControlledThread? Current => s_current;

    internal bool IsAborting => _isAborting;

    internal static void Adopt(ControlledThread thread) => s_current = thread;

    /// <summary>Runs one schedule of a world; null: it held.</summary>
    public Failure? Run(Scenario scenario, IStrategy strategy)
    {
        (_strategy, _timeouts, _timeoutsTaken) = (strategy, scenario.Timeouts, 0);
        (_count, Steps, StepHash, _failure, _isAborting, _isSerial) = (0, 0, 14695981039346656037, null, false, true);
        Choices.Clear();
        s_current = _serial;
        World? world = null;
        try
        {
            world = scenario.Make();
            foreach ((string name, Action body) in world.Threads) Add(name, isBackground: false, body);
            RunThreads();
            if (_failure is null) Judge(world);
            Unwind();
        }
        finally
        {
            world?.Dispose();
            s_current = null;
        }
        return _failure;
    }

    private void RunThreads()
    {
        _isSerial = false;
        ControlledThread? first = Next(null);
        if (first is not null)
        {
            first.Resume();
            if (!_ended.Await(s_patience)) throw new InvalidOperationException($"a thread waits for what is not controlled: {Describe()}");
        }
        _isSerial = true;
    }

    private void Judge(World world)
    {
        try
        {
            world.Check();
        }
        catch (Exception e)
        {
            _failure = new Failure(FailureKind.Oracle, e.Message);
        }
    }

    /// <summary>Ends the threads that still wait, one after another.</summary>
    private void Unwind()
    {
        (_isAborting, _isSerial) = (true, false);
        for (int i = 0; i < _count; i++)
        {
            if (_all[i].IsOver) continue;
            _all[i].Resume();
            if (!_ended.Await(s_patience)) throw new InvalidOperationException($"a thread does not end: {_all[i].Name}");
        }
        (_isAborting, _isSerial) = (false, true);
    }

    /// <summary>Adds a thread to this schedule.</summary>
    internal ControlledThread Add(string name, bool isBackground, Action body)
    {
        if (_count == _all.Count) _all.Add(new ControlledThread(this, _count + 1));
        ControlledThread thread = _all[_count++];
        thread.Begin(name, isBackground, body);
        return thread;
    }

    /// <summary>Comes before each step: another thread may be chosen to take one first.</summary>
    public static void Step(StepKind kind)
    {
        if (s_current is { } me) me.Scheduler.Pass(me, kind);
    }

    /// <summary>Waits until <paramref name="what"/> lets the thread go on; false: the time is over.</summary>
    internal static bool Wait(IWaitable what, StepKind kind, bool hasLimit = false)
    {
        ControlledThread me = s_current ?? throw new InvalidOperationException($"{kind} outside of a controlled thread");
        return me.Scheduler.Wait(me, what, kind, hasLimit);
    }

    /// <summary>The thread can do nothing now but look again when another has done something.</summary>
    internal static void Spin()
    {
        if (s_current is not { } me) return;
        me.Scheduler.BeginSpin(me);
        me.Scheduler.Pass(me, StepKind.Spin);
    }

    /// <summary>Whoever can go on now has its turn first, so that threads that spin together starve nobody.</summary>
    private void BeginSpin(ControlledThread me)
    {
        if (_isSerial) return;
        (me.HasSpun, me.IsOutdated, me.GoesBehind) = (!me.IsOutdated, false, 0);
        for (int i = 0; i < _count; i++)
            if (_all[i] != me && CanGo(_all[i])) me.GoesBehind |= 1ul << i;
    }

    private static bool CanGo(ControlledThread thread) =>
        !thread.IsOver && !thread.HasSpun && (thread.Waiting is not { } what || what.CanGo(thread));

    /// <summary>True when nobody who could go on when this thread spun still can, without having had a turn.</summary>
    private bool HasTurn(ControlledThread thread)
    {
        for (int i = 0; thread.GoesBehind != 0 && i < _count; i++)
            if ((thread.GoesBehind >> i & 1) != 0 && CanGo(_all[i])) return false;
        return true;
    }

    private bool Wait(ControlledThread me, IWaitable what, StepKind kind, bool hasLimit)
    {
        if (_isSerial)
        {
            if (!what.CanGo(me)) throw new InvalidOperationException($"{kind} waits while nobody else runs");
            return true;
        }
        (me.Waiting, me.HasLimit, me.IsTimedOut) = (what, hasLimit, false);
        Pass(me, kind);
        me.Waiting = null;
        return !me.IsTimedOut;
    }

    private void Pass(ControlledThread me, StepKind kind)
    {
        if (_isSerial) return;
        if (_isAborting) throw new ScheduleAbortedException();
        me.At = kind;
        ControlledThread? next = Next(me);
        if (next != me)
        {
            if (next is null) _ended.Pass();
            else next.Resume();
            me.Await();
            if (_isAborting) throw new ScheduleAbortedException();
        }
        Taken(me, me.At);
    }

    private void Taken(ControlledThread me, StepKind kind)
    {
        Steps++;
        StepHash = (StepHash ^ (((ulong)me.Number << 8) | (byte)kind | (me.IsTimedOut ? 1ul << 16 : 0))) * 1099511628211;
        for (int i = 0; i < _count; i++)
        {
            if (_all[i] == me) continue;
            (_all[i].HasSpun, _all[i].IsOutdated) = (false, true);
            _all[i].GoesBehind &= ~(1ul << (me.Number - 1));
        }
        Traced?.Invoke(me, kind);
    }

    /// <summary>A thread is over.</summary>
    internal void Ended(ControlledThread me, Exception? thrown)
    {
        if (_isAborting)
        {
            _ended.Pass();
            return;
        }
        if (thrown is not null) _failure = new Failure(FailureKind.Exception, $"{me.Name}: {thrown}");
        for (int i = 0; i < _count; i++) (_all[i].HasSpun, _all[i].IsOutdated) = (false, true);
        if (_failure is null && Next(null) is { } next) next.Resume();
        else _ended.Pass();
    }

    /// <summary>Chooses who goes on; null: the schedule is over.</summary>
    private ControlledThread? Next(ControlledThread? me)
    {
        if (_failure is not null) return null;
        if (Steps > StepsMax)
        {
            _failure = new Failure(FailureKind.Livelock, $"{StepsMax} steps: {Describe()}");
            return null;
        }
        int count = Collect(me, out int current);
        if (count == 0)
        {
            if (!IsQuiet) _failure = new Failure(FailureKind.Deadlock, $"no thread can go on: {Describe()}");
            return null;
        }
        int index = 0;
        if (count > 1)
        {
            index = _strategy.Choose(_alternatives.AsSpan(0, count), current);
            Choices.Add(_alternatives[index]);
        }
        Alternative chosen = _alternatives[index];
        ControlledThread next = _all[chosen.Thread - 1];
        if (chosen.IsTimeout) _timeoutsTaken++;
        next.IsTimedOut = chosen.IsTimeout;
        return next;
    }

    /// <summary>True when nobody is left but threads of the background that wait.</summary>
    private bool IsQuiet
    {
        get
        {
            for (int i = 0; i < _count; i++)
                if (!_all[i].IsOver && (!_all[i].IsBackground || _all[i].HasSpun)) return false;
            return true;
        }
    }

    /// <summary>Lists what may happen next, threads in the order of their numbers.</summary>
    /// <param name="current">The index of the thread that runs, if it can go on; else -1.</param>
    private int Collect(ControlledThread? me, out int current)
    {
        int count = 0;
        current = -1;
        for (int i = 0; i < _count; i++)
        {
            ControlledThread thread = _all[i];
            if (!CanGo(thread) || !HasTurn(thread)) continue;
            if (thread == me) current = count;
            _alternatives[count++] = new Alternative(thread.Number, IsTimeout: false);
        }
        bool mayTimeOut = _timeouts == Timeouts.Anytime && _timeoutsTaken < TimeoutsMax || (count == 0 && _timeouts == Timeouts.WhenQuiet);
        for (int i = 0; i < _count; i++)
        {
            ControlledThread thread = _all[i];
            if (thread.IsOver || thread is not { Waiting: { } what, HasLimit: true }) continue;
            bool isSleep = thread.At == StepKind.Sleep && count == 0; // time passes where all stand still
            if ((mayTimeOut || isSleep) && !what.CanGo(thread)) _alternatives[count++] = new Alternative(thread.Number, IsTimeout: true);
        }
        return count;
    }

    private string Describe() => string.Join(", ", _all.Take(_count).Select(static thread => thread.IsOver ? $"{thread.Name} is over"
        : thread.HasSpun ? $"{thread.Name} spins"
        : thread.Waiting is { } what ? $"{thread.Name} waits for {what}" : $"{thread.Name} can go on"));
}
