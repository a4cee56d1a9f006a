namespace Ambrosia.Binding.Tests;

/// <summary>A clock that goes on by 100 ns whenever somebody looks at it.</summary>
internal sealed class TickingClock : TimeProvider
{
    private long _ticks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => ++_ticks;
}
