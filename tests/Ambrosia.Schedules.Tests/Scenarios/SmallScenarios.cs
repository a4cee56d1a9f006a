namespace Ambrosia.Schedules.Tests.Scenarios;

/// <summary>Two threads take two locks in opposite orders.</summary>
internal sealed class CrossedLocksScenario : Scenario
{
    public override World Make()
    {
        Lock first = new(), second = new();
        var world = new SmallWorld();
        world.Threads.Add(("there", () =>
        {
            lock (first)
                lock (second) { }
        }));
        world.Threads.Add(("back", () =>
        {
            lock (second)
                lock (first) { }
        }));
        return world;
    }
}

/// <summary>Two threads add one to a number, each by a read and a write.</summary>
internal sealed class LostUpdateScenario : Scenario
{
    public override World Make()
    {
        int number = 0;
        var world = new SmallWorld(() => Assert.Equal(2, number));
        foreach (string name in (string[])["one", "two"])
            world.Threads.Add((name, () => Volatile.Write(ref number, Volatile.Read(ref number) + 1)));
        return world;
    }
}

/// <summary>A thread waits under a monitor, and another pulses whether or not it does so already.</summary>
internal sealed class EarlyPulseScenario : Scenario
{
    public override World Make()
    {
        object on = new();
        var world = new SmallWorld();
        world.Threads.Add(("wait", () =>
        {
            lock (on) Monitor.Wait(on);
        }));
        world.Threads.Add(("pulse", () =>
        {
            lock (on) Monitor.PulseAll(on);
        }));
        return world;
    }
}

/// <summary>A thread spins until another, which waits for it, has spoken.</summary>
internal sealed class SpinAndWaitScenario : Scenario
{
    public override World Make()
    {
        int said = 0;
        var heard = new ManualResetEventSlim(false);
        var world = new SmallWorld();
        world.Threads.Add(("spin", () =>
        {
            var spin = new SpinWait();
            while (Volatile.Read(ref said) == 0) spin.SpinOnce();
            heard.Set();
        }));
        world.Threads.Add(("wait", () =>
        {
            heard.Wait();
            Volatile.Write(ref said, 1);
        }));
        return world;
    }
}

/// <summary>A thread waits for a time for what never comes.</summary>
internal sealed class TimedWaitScenario : Scenario
{
    public override Timeouts Timeouts => Timeouts.WhenQuiet;

    public override World Make()
    {
        var never = new AutoResetEvent(false);
        bool hasCome = true;
        var world = new SmallWorld(() => Assert.False(hasCome));
        world.Threads.Add(("wait", () => hasCome = never.WaitOne(1000)));
        return world;
    }
}

/// <summary>Two threads take one step each, three times.</summary>
internal sealed class CountedScenario : Scenario
{
    public override World Make()
    {
        int number = 0;
        var world = new SmallWorld();
        foreach (string name in (string[])["one", "two"])
        {
            world.Threads.Add((name, () =>
            {
                for (int i = 0; i < 3; i++) Interlocked.Increment(ref number);
            }));
        }
        return world;
    }
}

/// <summary>A world of a few lines, by which the scheduler itself is tested.</summary>
internal sealed class SmallWorld(Action? check = null) : World
{
    public override void Check() => check?.Invoke();
}
