using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>What a receiver says at a round's end, against what was sent.</summary>
internal static class RoundTotals
{
    /// <exception cref="FailedRoundException">Something was lost, doubled, swapped or changed.</exception>
    public static void Check(string count, string bytes, string disorder, long messages, int messageBytes)
    {
        if (Number(count) != messages) throw new FailedRoundException($"{count} of {messages} messages arrived");
        if (Number(bytes) != messages * messageBytes) throw new FailedRoundException($"{bytes} of {messages * messageBytes} bytes arrived");
        if (Number(disorder) != 0) throw new FailedRoundException($"{disorder} of {messages} messages were not the next one");
    }

    private static long Number(string text) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long value) ? value
        : throw new FailedRoundException($"'{text}' is no count");
}
