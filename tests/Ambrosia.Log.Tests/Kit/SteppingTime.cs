namespace Ambrosia.Log.Tests;

/// <summary>A clock that only tests move.</summary>
internal sealed class SteppingTime : TimeProvider
{
    public DateTimeOffset Now { get; set; } = new(2026, 1, 2, 3, 4, 5, TimeSpan.Zero);

    public override DateTimeOffset GetUtcNow() => Now;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => Now.UtcTicks;
}
