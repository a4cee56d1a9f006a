namespace CRA.Tests;

/// <summary>A clock that stands still until the test moves it. Its timestamps are in ticks of 100 ns.</summary>
internal sealed class ManualTime : TimeProvider
{
    private long _now = 1_000;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => Volatile.Read(ref _now);

    public void Advance(TimeSpan by) => Interlocked.Add(ref _now, by.Ticks);
}
