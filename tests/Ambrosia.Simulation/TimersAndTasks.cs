namespace Ambrosia.Simulation;

/// <summary>What bodies of tasks find outside: each run gives another value, as the world does.</summary>
internal static class Outside
{
    /// <summary>Number of the task in the upper half, and a value that no other run gives in the lower one.</summary>
    internal static ulong Draw(NondetContext context) => TaskOf(context) << 32 | ++World.OfThisThread.Drawn;

    private static ulong TaskOf(NondetContext context) =>
        ulong.Parse(context.IdempotencyKey.AsSpan(context.IdempotencyKey.IndexOf('/', StringComparison.Ordinal) + 1),
            System.Globalization.CultureInfo.InvariantCulture);
}

/// <summary>
/// The other half of the source, in worlds that have timers and tasks: lanes of delays and tasks, and a timer that ticks a fixed number of
/// times.
/// </summary>
public sealed partial class Source
{
    public const ulong Lanes = 3, RoundsPerLane = 12, TicksWanted = 25;

    /// <summary>Constant while the world lives, so that a replay reads what the first start read.</summary>
    private static bool HasTimersAndTasks => World.OfThisThread.HasTimersAndTasks;

    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(40);

    public ulong Rounds, Ticks, Failures, WrongTimes, WrongResults;

    /// <summary>What each task gave, by its number.</summary>
    public SortedDictionary<ulong, ulong> Results = [];

    private RecurringTimer _ticker;
    private DateTimeOffset _begun;
    private long _lastPeriod;

    public static ulong RoundsWanted => HasTimersAndTasks ? Lanes * RoundsPerLane : 0;

    public bool IsDone =>
        Burst == Bursts && Answers == Asks && Chained == ChainsWanted && Rounds == RoundsWanted
        && (!HasTimersAndTasks || Ticks == TicksWanted);

    public bool IsAt(Source other) =>
        Burst == other.Burst && Answers == other.Answers && Chained == other.Chained && Rounds == other.Rounds && Ticks == other.Ticks;

    /// <summary>Everything that timers and tasks left in the state.</summary>
    public ulong TimersAndTasksHash()
    {
        ulong hash = Ledger.Mix(Ledger.Mix(Rounds, Ticks), Failures);
        foreach ((ulong task, ulong value) in Results) hash = Ledger.Mix(Ledger.Mix(hash, task), value);
        return hash;
    }

    public async Call DoWork(ulong lane)
    {
        for (ulong round = 0; round < RoundsPerLane; round++)
        {
            TimeSpan pause = TimeSpan.FromMilliseconds(Random.Next(0, 60));
            DateTimeOffset due = Now + pause;
            await Delay(pause);
            if (Now < due) WrongTimes++;
            Note(await Fetch(lane + round));
            Rounds++;
        }
    }

    private async Call<ulong> Fetch(ulong how)
    {
        ulong more = how;
        switch (how % 3)
        {
            case 0: return await NondetTask(static context => Outside.Draw(context));
            case 1: return await NondetMethod(DrawMethod, how);
            default:
                try
                {
                    return await NondetTask(ulong (context) => throw new InvalidOperationException($"{Outside.Draw(context)}+{more}"));
                }
                catch (RemoteCallException e)
                {
                    Failures++;
                    return ulong.Parse(e.Message.AsSpan(0, e.Message.IndexOf('+', StringComparison.Ordinal)),
                        System.Globalization.CultureInfo.InvariantCulture);
                }
        }
    }

    private void StartTimersAndTasks()
    {
        if (!HasTimersAndTasks) return;
        _begun = Now;
        _ticker = Every(s_period, Tick);
        for (ulong lane = 0; lane < Lanes; lane++) thisProxy.DoWorkFork(lane);
    }

    private void Tick()
    {
        long period = (Now - _begun).Ticks / s_period.Ticks;
        if (period <= _lastPeriod) WrongTimes++; // once a period, however late
        _lastPeriod = period;
        if (++Ticks == TicksWanted) _ticker.Stop();
    }

    private void Note(ulong drawn)
    {
        if (!Results.TryAdd(drawn >> 32, drawn & uint.MaxValue)) WrongResults++;
    }

    private static ulong DrawMethod(ulong how, NondetContext context) => Outside.Draw(context);
}
