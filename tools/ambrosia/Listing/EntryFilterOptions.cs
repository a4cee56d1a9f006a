using System.CommandLine;
using System.Globalization;
using Ambrosia.Protocol;
using Ambrosia.Tools.Decoding;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Records;

namespace Ambrosia.Tools.Listing;

/// <summary>Owns the options that choose among pages, records and messages, and makes the filter of what is given for them.</summary>
internal sealed class EntryFilterOptions
{
    private readonly Option<string?> _since = new("--since")
    {
        Description = "Show nothing before this time: 2026-11-21T08:00:00Z, or 90s, 15m, 2h, 7d ago.", HelpName = "TIME"
    };
    private readonly Option<string?> _until = new("--until") { Description = "Show nothing after this time.", HelpName = "TIME" };
    private readonly Option<ulong?> _from = new("--from") { Description = "Show nothing before this position.", HelpName = "LSN" };
    private readonly Option<ulong?> _to = new("--to") { Description = "Show only what stands before this position.", HelpName = "LSN" };
    private readonly Option<string?> _sender = new("--sender") { Description = "Show only messages that this instance sent.", HelpName = "NAME" };
    private readonly Option<string?> _method = new("--method")
    {
        Description = "Show only messages of this method: Method, Interface.Method or an id.", HelpName = "NAME"
    };
    private readonly Option<ulong?> _call = new("--call") { Description = "Show only messages with this call id.", HelpName = "ID" };
    private readonly Option<string?> _kind = new("--kind")
    {
        Description = "Show only this kind: fork, call, result, failure, impulse, peer, trim, digest, checkpointMark …", HelpName = "KIND"
    };

    /// <summary>All of them, in the order in which the help shows them.</summary>
    public IEnumerable<Option> All => [_since, _until, _from, _to, .. OfMessages];

    /// <summary>Those that choose among messages, which pages do not have.</summary>
    public IEnumerable<Option> OfMessages => [_sender, _method, _call, _kind];

    /// <summary>Makes the filter that the command line asks for.</summary>
    /// <exception cref="ToolMisuse">A time or a method is none.</exception>
    public EntryFilter Read(ParseResult parsed, ContractManifests contracts)
    {
        DateTimeOffset now = TimeProvider.System.GetUtcNow();
        return new EntryFilter(
            new Lsn(parsed.GetValue(_from) ?? 0), parsed.GetValue(_to) is { } to ? new Lsn(to) : null, TimeOf(parsed, _since, now),
            TimeOf(parsed, _until, now), parsed.GetValue(_sender),
            parsed.GetValue(_method) is { } method ? contracts.IdsOf(method) : null, parsed.GetValue(_call), parsed.GetValue(_kind));
    }

    private static long? TimeOf(ParseResult parsed, Option<string?> option, DateTimeOffset now)
    {
        if (parsed.GetValue(option) is not { } text) return null;
        return TimeArgument.Parse(text, now)
            ?? throw new ToolMisuse($"'{text}' of {option.Name} is no time", "",
                "write it like 2026-11-21T08:00:00Z, or like 15m for fifteen minutes ago");
    }
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
