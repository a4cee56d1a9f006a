namespace Ambrosia.Schedules;

/// <summary>
/// A real thread that runs only while it has the scheduler's baton. It serves one schedule after another, since starting a thread costs
/// more than most schedules do. Its fields belong to whoever has the baton.
/// </summary>
public sealed class ControlledThread
{
    private readonly Thread? _thread;
    private readonly Baton _baton = new();
    private Action? _body;

    internal ControlledThread(Scheduler scheduler, int number)
    {
        (Scheduler, Number) = (scheduler, number);
        if (number == Scheduler.Serial)
        {
            ManagedThreadId = Environment.CurrentManagedThreadId;
            return;
        }
        _thread = new Thread(Serve, 512 * 1024) { Name = $"controlled {number}", IsBackground = true };
        ManagedThreadId = _thread.ManagedThreadId;
        _thread.Start();
    }

    /// <summary>The number by which schedules name it; threads are numbered from 1 in the order in which they were made.</summary>
    public int Number { get; }

    public int ManagedThreadId { get; private set; }

    public string Name { get; internal set; } = "";

    internal Scheduler Scheduler { get; }

    /// <summary>A background thread may wait for ever without that being a failure.</summary>
    internal bool IsBackground { get; set; }

    internal bool IsOver { get; private set; } = true;

    /// <summary>What it waits for; null: it can go on.</summary>
    internal IWaitable? Waiting { get; set; }

    /// <summary>What it waits for is also over after some time.</summary>
    internal bool HasLimit { get; set; }

    /// <summary>The scheduler has chosen that the time is over.</summary>
    internal bool IsTimedOut { get; set; }

    /// <summary>
    /// It has spun, and nobody has done anything since it spun before: it can do nothing until another thread has done something.
    /// </summary>
    internal bool HasSpun { get; set; }

    /// <summary>Another thread has done something since this one spun: what it saw then is outdated.</summary>
    internal bool IsOutdated { get; set; }

    /// <summary>The threads, one a bit, that have a turn before it, since it has spun.</summary>
    internal ulong GoesBehind { get; set; }

    /// <summary>The step that it is about to take, or the wait in which it is.</summary>
    internal StepKind At { get; set; }

    internal void Begin(string name, bool isBackground, Action body)
    {
        (Name, IsBackground, _body) = (name, isBackground, body);
        (IsOver, Waiting, HasLimit, IsTimedOut, At) = (false, null, false, false, StepKind.Start);
        (HasSpun, IsOutdated, GoesBehind) = (false, true, 0);
    }

    /// <summary>Hands the baton to this thread.</summary>
    internal void Resume() => _baton.Pass();

    /// <summary>Waits for the baton.</summary>
    internal void Await() => _baton.Await(Timeout.InfiniteTimeSpan);

    private void Serve()
    {
        Scheduler.Adopt(this);
        while (true)
        {
            Await();
            Exception? thrown = null;
            try
            {
                if (!Scheduler.IsAborting) _body!();
            }
            catch (ScheduleAbortedException)
            {
                // The schedule is over.
            }
            catch (Exception e)
            {
                thrown = e;
            }
            IsOver = true;
            Scheduler.Ended(this, thrown);
        }
    }
}
