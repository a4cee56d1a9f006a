using System.CommandLine;
using System.Globalization;

namespace Ambrosia.Tools.Commands;

/// <summary>
/// A whole number on the command line, within bounds. Every option that takes a number is one of these or a <see cref="TimeOption"/>: what
/// is no number, has a sign, or is too large ends with exit code 2 and a sentence.
/// </summary>
internal sealed class NumberOption : Option<long?>
{
    /// <summary>No position in a log and no call id is larger.</summary>
    public const long PositionMax = long.MaxValue - 1;

    private readonly long? _otherwise;

    /// <param name="value">The word behind the name in the help.</param>
    /// <param name="otherwise">What is meant where it is not given; null: nothing.</param>
    public NumberOption(string name, string value, long min, long max, string description, long? otherwise = null) : base(name)
    {
        _otherwise = otherwise;
        Description = otherwise is null ? description : string.Create(CultureInfo.InvariantCulture, $"{description} Default: {otherwise}.");
        HelpName = value;
        CustomParser = result =>
        {
            string text = result.Tokens is [var token, ..] ? token.Value : "";
            if (long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long number) && number >= min && number <= max)
                return number;
            result.AddError(string.Create(CultureInfo.InvariantCulture, $"'{text}' of {name} is no number from {min} to {max}"));
            return null;
        };
    }

    /// <summary>Returns the number, or null where it is not given and nothing else is meant.</summary>
    public long? Of(ParseResult parsed) => parsed.GetValue(this) ?? _otherwise;

    public int? IntOf(ParseResult parsed) => (int?)Of(parsed);

    public ulong? PositionOf(ParseResult parsed) => (ulong?)Of(parsed);
}
