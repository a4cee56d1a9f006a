using System.Globalization;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.Inspection.Texts;

/// <summary>Writes numbers, sizes and times as people read them. Times are UTC.</summary>
internal static class TextFormat
{
    private static readonly string[] s_units = ["KiB", "MiB", "GiB", "TiB", "PiB"];

    public static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);

    public static string Number(ulong value) => value.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>Writes a size like "812 bytes" or "64.0 KiB".</summary>
    public static string Size(long bytes)
    {
        if (bytes < 1024) return string.Create(CultureInfo.InvariantCulture, $"{bytes} bytes");
        double value = bytes;
        int unit = -1;
        while (value >= 1024 && unit < s_units.Length - 1)
        {
            value /= 1024;
            unit++;
        }
        return string.Create(CultureInfo.InvariantCulture, $"{value:F1} {s_units[unit]}");
    }

    /// <summary>Writes a time as ISO 8601 with microseconds. A time outside the calendar is written as its number of µs.</summary>
    public static string Time(long micros)
    {
        const long last = 253_402_300_799_999_999; // the year 9999
        if (micros is < 0 or > last) return string.Create(CultureInfo.InvariantCulture, $"{micros} µs");
        return DateTime.UnixEpoch.AddTicks(micros * TimeSpan.TicksPerMicrosecond)
            .ToString("yyyy-MM-dd'T'HH:mm:ss.ffffff'Z'", CultureInfo.InvariantCulture);
    }

    public static string Hash(ulong hash) => $"0x{hash:x16}";
}

/// <summary>
/// Parses times as users write them: ISO 8601, which is UTC unless it says otherwise, or a span before now such as 90s, 15m, 2h, 7d.
/// </summary>
internal static class TimeArgument
{
    /// <summary>Parses a time.</summary>
    /// <returns>The time in µs since 1970, or null where the text is none.</returns>
    public static long? Parse(string text, DateTimeOffset now)
    {
        const DateTimeStyles styles = DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal;
        if (TimeText.TryParse(text, out TimeSpan span)) return Micros(now - span);
        return DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, styles, out DateTimeOffset moment) ? Micros(moment) : null;
    }

    private static long Micros(DateTimeOffset moment) => (moment - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
}
