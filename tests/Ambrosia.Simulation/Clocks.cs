using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// The clocks of the replicas. In some worlds each replica has one of its own, as on machines of their own: its wall clock differs from the
/// others' by up to hours, and both its clocks are faster or slower than the world's by up to a twentieth. A set clock is weather.
/// </summary>
internal sealed class Clocks
{
    private const double DriftMax = 0.05;

    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _differ, _drift;

    public Clocks(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0xC10C);
        (_differ, _drift) = (_random.Next(3) == 0 && world.Faults.Clocks, _random.Next(3) == 0 && world.Faults.Clocks);
    }

    /// <summary>The clock of one more replica, for all its processes.</summary>
    public TimeProvider New()
    {
        if (!_differ && !_drift) return _world.Time;
        TimeSpan ahead = _random.Next(3) switch
        {
            0 => TimeSpan.FromMilliseconds(_random.Next(-500, 500)), 1 => TimeSpan.FromSeconds(_random.Next(-600, 600)),
            _ => TimeSpan.FromMinutes(_random.Next(-300, 300)),
        };
        double rate = 1 + DriftMax * (2 * _random.NextDouble() - 1);
        if (_differ) _world.Saw("clocks differ");
        if (_drift) _world.Saw("clocks drift");
        return new OwnClock(_world.Time, _differ ? ahead : TimeSpan.Zero, _drift ? rate : 1);
    }

    /// <summary>Time as one machine sees it: every part of it asks this clock, and none waits by it.</summary>
    private sealed class OwnClock(FakeTime world, TimeSpan ahead, double rate) : TimeProvider
    {
        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

        public override long GetTimestamp() => (long)(world.Elapsed.Ticks * rate);

        public override DateTimeOffset GetUtcNow() => world.GetUtcNow() + ahead + (rate - 1) * world.Elapsed;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            world.CreateTimer(callback, state, dueTime, period);
    }
}
