using System.CommandLine;
using System.CommandLine.Parsing;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol.Records;

namespace ImmortalCoordinator;

/// <summary>
/// Parses values as users write them: sizes, times, ports, words out of a list. It returns null or false where the text is none.
/// </summary>
internal static class OptionValues
{
    /// <summary>Parses a number of bytes with an optional K, M or G.</summary>
    internal static bool TryParseSize(string text, out long bytes)
    {
        bytes = 0;
        if (text.Length == 0) return false;
        int shift = char.ToUpperInvariant(text[^1]) switch { 'K' => 10, 'M' => 20, 'G' => 30, _ => 0 };
        ReadOnlySpan<char> digits = shift == 0 ? text : text.AsSpan(0, text.Length - 1);
        if (!long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out long number) || number is 0 or > (1L << 50))
            return false;
        if (number > long.MaxValue >> shift) return false;
        bytes = number << shift;
        return true;
    }

    /// <summary>Parses a whole number of seconds, minutes, hours or days with its letter, from 1 s to 10,000 days.</summary>
    internal static bool TryParseTime(string text, out TimeSpan time) =>
        TimeText.TryParse(text, out time) && time > TimeSpan.Zero;

    /// <summary>Parses seconds like 4 or 0.5, from 0.1 to 3600.</summary>
    internal static bool TryParseSeconds(string text, out double seconds) =>
        double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out seconds) && seconds is >= 0.1 and <= 3600;

    internal static bool TryParsePort(string text, out int port)
    {
        bool isPort = ushort.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out ushort number);
        port = number;
        return isPort;
    }

    internal static bool TryParseRetention(string text, [NotNullWhen(true)] out RetentionPolicy? policy)
    {
        const string checkpoints = "checkpoints=", span = "span=";
        policy = text == "all" ? RetentionPolicy.All : null;
        if (text.StartsWith(checkpoints, StringComparison.Ordinal)
            && int.TryParse(text.AsSpan(checkpoints.Length), NumberStyles.None, CultureInfo.InvariantCulture, out int count)
            && count is >= RetentionPolicy.CheckpointsMin and <= 1_000) policy = RetentionPolicy.OfCheckpoints(count);
        if (text.StartsWith(span, StringComparison.Ordinal) && TryParseTime(text[span.Length..], out TimeSpan time))
            policy = RetentionPolicy.OfSpan(time);
        return policy is not null;
    }

    /// <summary>Parses a time and a size with a comma between.</summary>
    internal static bool TryParseHoldLimit(string text, [NotNullWhen(true)] out HoldLimit? limit)
    {
        limit = null;
        if (text.Split(',') is not [var time, var size] || !TryParseTime(time, out TimeSpan longest) || !TryParseSize(size, out long bytes))
            return false;
        limit = new HoldLimit(longest, bytes);
        return true;
    }

    /// <summary>Parses a number from 1 to 100 million.</summary>
    internal static bool TryParseCount(string text, out long count) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out count) && count is >= 1 and <= 100_000_000;

    internal static bool TryParseWriteMode(string text, out LogWriteMode mode)
    {
        mode = text switch { "direct" => LogWriteMode.Direct, "buffered" => LogWriteMode.Buffered, _ => LogWriteMode.Auto };
        return text is "auto" or "direct" or "buffered";
    }

    internal static bool TryParseLogFormat(string text, out EventEncoding format)
    {
        format = text == "json" ? EventEncoding.Json : EventEncoding.Text;
        return text is "text" or "json";
    }

    internal static bool TryParseForkPolicy(string text, out ForkPolicy policy)
    {
        policy = text switch { "stop" => ForkPolicy.Stop, "quarantine" => ForkPolicy.Quarantine, _ => ForkPolicy.Continue };
        return text is "continue" or "stop" or "quarantine";
    }
}

/// <summary>An option whose value is taken as it is written. <see cref="WhatIsWrong"/> checks it.</summary>
internal sealed class TextOption : Option<string>
{
    /// <param name="name">The name with its dashes.</param>
    /// <param name="value">The word behind the name in the help.</param>
    public TextOption(string name, string value, string description, string? standard = null)
        : base(name)
    {
        (HelpName, Description) = (value, description);
        if (standard is not null) DefaultValueFactory = _ => standard;
        Validators.Add(result =>
        {
            if (result.Tokens is [var given] && WhatIsWrong(given.Value) is { } wrong) result.AddError(wrong);
        });
    }

    /// <summary>Says what is wrong with a given value and how to mend it, or returns null.</summary>
    public Func<string, string?> WhatIsWrong { get; init; } = static _ => null;

    /// <summary>
    /// Returns the value on the command line, or null where the option is not there. An option without a value is reported by the parser.
    /// </summary>
    public static string? Given(CommandResult result, TextOption option) =>
        result.GetResult(option) is { Implicit: false, Tokens: [var given] } ? given.Value : null;
}
