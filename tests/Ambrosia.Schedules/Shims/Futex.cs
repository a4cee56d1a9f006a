namespace Ambrosia.Schedules.Shims;

/// <summary>Stands for the system's call by which threads wait on a word of memory (futex).</summary>
public static unsafe class Futex
{
    [ThreadStatic]
    private static Waiter? s_waiter;

    private static readonly List<Waiter> s_waiters = [];

    /// <summary>Waits while the word has this value; both are looked at in one step.</summary>
    public static void Wait(ref int word, int value, TimeSpan atMost)
    {
        Scheduler.Step(StepKind.FutexWait);
        if (word != value) return;
        Waiter waiter = s_waiter ??= new Waiter();
        fixed (int* at = &word) waiter.Begin(at);
        lock (s_waiters) s_waiters.Add(waiter);
        try
        {
            Scheduler.Wait(waiter, StepKind.FutexWait, hasLimit: true);
        }
        finally
        {
            lock (s_waiters) s_waiters.Remove(waiter);
        }
    }

    public static void Wake(ref int word)
    {
        Scheduler.Step(StepKind.FutexWake);
        fixed (int* at = &word)
            lock (s_waiters)
                foreach (Waiter each in s_waiters) each.Wake(at);
    }

    private sealed class Waiter : IWaitable
    {
        private int* _word;
        private bool _isAwake;

        public void Begin(int* word)
        {
            _word = word;
            _isAwake = false;
        }

        /// <summary>
        /// One word of shared memory may have several addresses. Nobody else runs, so it is changed for a moment to see whether it is ours.
        /// </summary>
        public void Wake(int* word)
        {
            int was = *word, ours = *_word;
            *word = ~was;
            _isAwake |= *_word != ours;
            *word = was;
        }

        public bool CanGo(ControlledThread thread) => _isAwake;

        public override string ToString() => "a word to change";
    }
}
