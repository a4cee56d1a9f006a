using System.Globalization;

namespace Ambrosia.Coordinator.Replica;

/// <summary>Is a span of time as users write it: 90s, 15m, 2h, 7d.</summary>
public static class TimeText
{
    /// <summary>Parses a whole number of seconds, minutes, hours or days with its letter, 10,000 days at most.</summary>
    public static bool TryParse(string text, out TimeSpan span)
    {
        span = default;
        long seconds = text.Length == 0 ? 0 : text[^1] switch { 's' => 1, 'm' => 60, 'h' => 3_600, 'd' => 86_400, _ => 0 };
        if (seconds == 0
            || !long.TryParse(text.AsSpan(0, text.Length - 1), NumberStyles.None, CultureInfo.InvariantCulture, out long number))
            return false;
        if (number > 10_000 * 86_400L / seconds) return false;
        span = TimeSpan.FromSeconds(number * seconds);
        return true;
    }
}
