namespace Ambrosia.Simulation;

/// <summary>The world's clock with an hour too much on it: what is due by it was promised for later.</summary>
internal sealed class FastTime(TimeProvider world) : TimeProvider
{
    public override DateTimeOffset GetUtcNow() => world.GetUtcNow().AddHours(1);

    public override long GetTimestamp() => world.GetTimestamp();

    public override long TimestampFrequency => world.TimestampFrequency;
}
