using System.CommandLine;
using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>Makers of options whose values are checked before anything is started.</summary>
internal static class Options
{
    public static Option<int> Number(string name, string description, int standard, int min = 1) => new(name)
    {
        Description = $"{description} Default: {standard}.",
        HelpName = "N",
        DefaultValueFactory = _ => standard,
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            if (!int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int value) || value < min)
                result.AddError($"'{text}' of {name} is no number from {min} to {int.MaxValue}");
            return value;
        },
    };

    public static Option<long> Size(string name, string description, string standard) => new(name)
    {
        Description = $"{description} Default: {standard}.",
        HelpName = "SIZE",
        DefaultValueFactory = _ => Sizes.TryParse(standard, out long value) ? value : 0,
        CustomParser = result =>
        {
            if (!Sizes.TryParse(result.Tokens[0].Value, out long value))
                result.AddError($"'{result.Tokens[0].Value}' of {name} is no size; write it like 64M");
            return value;
        },
    };

    /// <summary>Bytes of one message.</summary>
    public static Option<int> MessageBytes(string standard) => new("--size")
    {
        Description = $"Bytes of a message, from {Sizes.BytesMin} to 16M. Default: {standard}.",
        HelpName = "SIZE",
        DefaultValueFactory = _ => int.Parse(standard, CultureInfo.InvariantCulture),
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            if (!Sizes.TryParse(text, out long value) || value is < Sizes.BytesMin or > Sizes.BytesMax)
                result.AddError($"'{text}' of --size is no size from {Sizes.BytesMin} to 16M; write it like 1K");
            return (int)value;
        },
    };

    public static Option<IReadOnlyList<int>> SizeList(string name, string description, string standard) => new(name)
    {
        Description = $"{description} FROM..TO in quarters, or a list A,B,C; each from 8 to 16M. Default: {standard}.",
        HelpName = "SIZES",
        DefaultValueFactory = _ => Sizes.TryParseList(standard)!,
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            IReadOnlyList<int>? list = Sizes.TryParseList(text);
            if (list is null) result.AddError($"'{text}' of {name} is neither FROM..TO nor A,B,C with sizes from 8 to 16M bytes");
            return list ?? [];
        },
    };

    /// <summary>Numbers like 1,4,16, from 1 to <paramref name="max"/>.</summary>
    public static Option<IReadOnlyList<int>> Counts(string name, string description, string standard, int max) => new(name)
    {
        Description = $"{description} Default: {standard}.",
        HelpName = "N,N,…",
        DefaultValueFactory = _ => ParseCounts(standard, max) ?? [],
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            IReadOnlyList<int>? counts = ParseCounts(text, max);
            if (counts is null) result.AddError($"'{text}' of {name} is no list of numbers from 1 to {max}, like 1,4,16");
            return counts ?? [];
        },
    };

    /// <summary>A time like 1ms, 500us or 2s.</summary>
    public static Option<TimeSpan?> Interval(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "TIME",
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            TimeSpan? found = ParseInterval(text);
            if (found is null) result.AddError($"'{text}' of {name} is no time from 50us to 60s; write it like 1ms");
            return found;
        },
    };

    /// <summary>Words out of a closed list.</summary>
    public static Option<string> Word(string name, string description, params string[] words)
    {
        var option = new Option<string>(name)
        {
            Description = $"{description} Default: {words[0]}.", HelpName = string.Join('|', words), DefaultValueFactory = _ => words[0]
        };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string>() is { } word && !words.Contains(word))
                result.AddError($"'{word}' of {name} is none of {string.Join(", ", words)}");
        });
        return option;
    }

    internal static TimeSpan? ParseInterval(string text)
    {
        (string digits, double micros) = text switch
        {
            [.. var head, 'm', 's'] => (head, 1_000),
            [.. var head, 'u', 's'] => (head, 1),
            [.. var head, 's'] => (head, 1_000_000.0),
            _ => ("", 0),
        };
        if (!double.TryParse(digits, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double number)) return null;
        double total = number * micros;
        return total is >= 50 and <= 60_000_000 ? TimeSpan.FromMicroseconds(total) : null;
    }

    private static List<int>? ParseCounts(string text, int max)
    {
        var counts = new List<int>();
        foreach (string word in text.Split(','))
        {
            if (!int.TryParse(word, NumberStyles.None, CultureInfo.InvariantCulture, out int count) || count < 1 || count > max)
                return null;
            counts.Add(count);
        }
        return counts;
    }
}
