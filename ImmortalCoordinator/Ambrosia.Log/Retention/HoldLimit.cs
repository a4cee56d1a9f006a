namespace Ambrosia.Log.Retention;

/// <summary>
/// Bounds how long, and by how much log, a reader may keep a truncation from going on. A process that is stopped keeps its locks, so that
/// without a bound it would fill the primary's disk.
/// </summary>
/// <param name="Time">A segment is held for so long at most, counted from the truncation that it stopped first.</param>
/// <param name="Bytes">So many bytes of log are kept at most because of a held segment.</param>
public sealed record HoldLimit(TimeSpan Time, long Bytes)
{
    /// <summary>The usual limit is one hour and 16 GiB.</summary>
    public static HoldLimit Default { get; } = new(TimeSpan.FromHours(1), 16L << 30);
}
