namespace CRA.Tests;

// A clock that stands until it is moved. Timestamps are in ticks of 100 ns.
internal sealed class ManualTime : TimeProvider
{
    private long _now = 1_000;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => Volatile.Read(ref _now);

    public void Advance(TimeSpan by) => Interlocked.Add(ref _now, by.Ticks);
}
