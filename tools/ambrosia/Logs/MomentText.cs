using System.Globalization;

namespace Ambrosia.Tools;

/// <summary>Moments as users write them: ISO 8601, UTC unless it says otherwise, or a span before now such as 90s, 15m, 2h, 7d.</summary>
internal static class MomentText
{
    /// <returns>µs since 1970; null: it is none.</returns>
    public static long? Parse(string text, DateTimeOffset now)
    {
        const DateTimeStyles styles = DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal;
        if (SpanOf(text) is { } span) return Micros(now - span);
        return DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, styles, out DateTimeOffset moment) ? Micros(moment) : null;
    }

    private static TimeSpan? SpanOf(string text)
    {
        if (text.Length < 2
            || !uint.TryParse(text.AsSpan(0, text.Length - 1), NumberStyles.None, CultureInfo.InvariantCulture, out uint number))
            return null;
        return text[^1] switch
        {
            's' => TimeSpan.FromSeconds(number),
            'm' => TimeSpan.FromMinutes(number),
            'h' => TimeSpan.FromHours(number),
            'd' when number < 36_500 => TimeSpan.FromDays((int)number),
            _ => null,
        };
    }

    private static long Micros(DateTimeOffset moment) => (moment - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
}
