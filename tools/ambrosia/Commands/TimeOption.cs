using System.CommandLine;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.Tools.Commands;

/// <summary>Takes a span of time, like 10s or 5m, of a day at most.</summary>
internal sealed class TimeOption : Option<TimeSpan?>
{
    private static readonly TimeSpan s_max = TimeSpan.FromDays(1);

    private readonly TimeSpan _otherwise;

    /// <param name="otherwise">What is meant where it is not given, as a user would write it.</param>
    public TimeOption(string name, string otherwise, string description) : base(name)
    {
        _otherwise = Parse(otherwise)!.Value;
        Description = $"{description} Default: {otherwise}.";
        HelpName = "TIME";
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            TimeSpan? time = Parse(text);
            if (time is null) result.AddError($"'{text}' of {name} is no time; write it like 10s or 5m, up to 24h");
            return time;
        };
    }

    public TimeSpan Of(ParseResult parsed) => parsed.GetValue(this) ?? _otherwise;

    private static TimeSpan? Parse(string text) =>
        TimeText.TryParse(text, out TimeSpan time) && time > TimeSpan.Zero && time <= s_max ? time : null;
}
