using System.Globalization;

namespace Ambrosia.Tools;

/// <summary>Numbers, sizes and times as people read them; times are UTC.</summary>
internal static class Wording
{
    private static readonly string[] s_units = ["KiB", "MiB", "GiB", "TiB", "PiB"];

    public static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);

    public static string Number(ulong value) => value.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>"812 bytes", "64.0 KiB".</summary>
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

    /// <summary>ISO 8601 with microseconds; a time outside the calendar as its number.</summary>
    public static string Time(long micros)
    {
        const long last = 253_402_300_799_999_999; // the year 9999
        if (micros is < 0 or > last) return string.Create(CultureInfo.InvariantCulture, $"{micros} µs");
        return DateTime.UnixEpoch.AddTicks(micros * TimeSpan.TicksPerMicrosecond)
            .ToString("yyyy-MM-dd'T'HH:mm:ss.ffffff'Z'", CultureInfo.InvariantCulture);
    }

    public static string Hash(ulong hash) => $"0x{hash:x16}";
}
