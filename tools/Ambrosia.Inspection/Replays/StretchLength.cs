using Ambrosia.Coordinator.Views;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Says how much of the log is executed before what was emitted is compared. Each stop costs milliseconds, so stretches grow; what an app
/// emits between two stops is kept in bounded memory, so they shrink where it emits much. One thread.
/// </summary>
internal sealed class StretchLength
{
    private const ulong BytesMin = 1 << 20, BytesMax = 32 << 20;

    /// <summary>A stretch that emits more is too long: the next may emit a few times as much, and all of it must be kept.</summary>
    private const long EmittedMax = 8 << 20;

    /// <summary>The next stretch has so many bytes.</summary>
    public ulong Bytes { get; private set; } = BytesMin;

    /// <summary>A stretch was executed.</summary>
    public void Executed(ViewedEmissions emitted)
    {
        bool isMuch = emitted.Missing.Count > 0 || emitted.Runs.Sum(static run => (long)run.Messages.Length) > EmittedMax;
        Bytes = isMuch ? Math.Max(BytesMin, Bytes / 4) : Math.Min(BytesMax, Bytes * 2);
    }
}
