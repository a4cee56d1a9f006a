namespace Ambrosia.Schedules.Shims;

/// <summary>
/// Stands for <see cref="System.Threading.Thread"/>. A thread of the background may wait for ever; any other must end.
/// </summary>
public sealed class Thread(ThreadStart start) : IWaitable
{
    private ControlledThread? _on;

    public Thread(ThreadStart start, int stackBytes) : this(start)
    {
    }

    public string? Name { get; set; }

    public bool IsBackground { get; set; }

    public bool IsAlive => _on is { IsOver: false };

    public ThreadState ThreadState => _on is null ? ThreadState.Unstarted : _on.IsOver ? ThreadState.Stopped : ThreadState.Running;

    public int ManagedThreadId => _on?.ManagedThreadId ?? 0;

    public bool CanGo(ControlledThread thread) => _on!.IsOver;

    public void Start()
    {
        Scheduler.Step(StepKind.StartThread);
        ControlledThread by = Scheduler.Current ?? throw new InvalidOperationException("a thread is started outside of a schedule");
        _on = by.Scheduler.Add(Name ?? "thread", IsBackground, () => start());
    }

    public void Join() => Scheduler.Wait(this, StepKind.Join);

    public bool Join(TimeSpan limit) => Scheduler.Wait(this, StepKind.Join, hasLimit: true);

    public bool Join(int milliseconds) => Scheduler.Wait(this, StepKind.Join, milliseconds >= 0);

    public static void Sleep(int milliseconds)
    {
        if (milliseconds == 0) Scheduler.Spin();
        else Scheduler.Wait(Nothing.One, StepKind.Sleep, hasLimit: true);
    }

    public static void Sleep(TimeSpan time) => Sleep((int)time.TotalMilliseconds);

    public static bool Yield()
    {
        Scheduler.Spin();
        return true;
    }

    public static void SpinWait(int iterations) => Scheduler.Spin();

    public static void MemoryBarrier()
    {
    }

    public override string ToString() => $"the end of {Name}";

    private sealed class Nothing : IWaitable
    {
        public static readonly Nothing One = new();

        public bool CanGo(ControlledThread thread) => false;

        public override string ToString() => "time";
    }
}
