using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Tools.Logs;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>Checks the clock. No promise rests on it, but times in the log, timers and the windows of keys do.</summary>
internal static class ClockCheck
{
    private const string Check = "clock";
    private static readonly DateTimeOffset s_earliest = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly TimeSpan s_ahead = TimeSpan.FromSeconds(2);

    public static IEnumerable<Finding> Run(string directory, bool isThere, TimeProvider clock)
    {
        DateTimeOffset now = clock.GetUtcNow();
        DateTimeOffset? newest = isThere ? NewestTime(directory) : null;
        yield return Judge(now, newest);
    }

    /// <summary>Judges the clock by the log.</summary>
    /// <param name="newest">When the newest segment of the log was made, or null where there is none.</param>
    public static Finding Judge(DateTimeOffset now, DateTimeOffset? newest)
    {
        string what = now.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", System.Globalization.CultureInfo.InvariantCulture);
        const string mend = "synchronise the clock (chrony, systemd-timesyncd)";
        if (now < s_earliest) return Finding.Warn(Check, what, "the clock is wrong: it stands before this program was made", mend);
        return newest - now > s_ahead
            ? Finding.Warn(Check, what,
                $"the log was written at {newest:u}, later than now: its time stands still until the clock has passed that", mend)
            : Finding.Ok(Check, what);
    }

    private static DateTimeOffset? NewestTime(string directory)
    {
        var files = new ReadOnlyFiles();
        try
        {
            if (InstanceDirectory.TryRead(files, directory) is not { } identity) return null;
            LogChain chain = LogChain.Load(files, directory, identity);
            return chain.Segments.IsEmpty ? null
                : DateTimeOffset.UnixEpoch.AddTicks(chain.Segments[^1].Header.CreatedMicros * TimeSpan.TicksPerMicrosecond);
        }
        catch (Exception e) when (e is LogDamage or IOException or ArgumentOutOfRangeException)
        {
            return null; // 'ambrosia verify' says what is wrong with it
        }
    }
}
