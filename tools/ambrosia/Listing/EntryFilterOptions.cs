using System.CommandLine;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Records;
using Ambrosia.Inspection.Texts;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Listing;

/// <summary>Owns the options that choose among pages, records and messages, and makes the filter of what is given for them.</summary>
internal sealed class EntryFilterOptions
{
    /// <summary>A line has one of these as its kind: that of its message, or of a record that holds no messages.</summary>
    private static readonly string[] s_kinds =
    [
        .. new[] { MessageKind.Fork, MessageKind.Call, MessageKind.Result, MessageKind.Failure, MessageKind.Impulse }.Select(LogEntry.NameOf),
        .. Enum.GetValues<RecordKind>().Where(static kind => kind is not (RecordKind.Run or RecordKind.ImpulseRun)).Select(LogEntry.NameOf),
    ];

    private readonly Option<string?> _since = new("--since")
    {
        Description = "Show nothing before this time: 2026-11-21T08:00:00Z, or 90s, 15m, 2h, 7d ago.", HelpName = "TIME"
    };
    private readonly Option<string?> _until = new("--until") { Description = "Show nothing after this time.", HelpName = "TIME" };
    private readonly NumberOption _from = new("--from", "LSN", 0, NumberOption.PositionMax, "Show nothing before this position.");
    private readonly NumberOption _to = new("--to", "LSN", 0, NumberOption.PositionMax, "Show only what stands before this position.");
    private readonly Option<string?> _sender = new("--sender") { Description = "Show only messages that this instance sent.", HelpName = "NAME" };
    private readonly Option<string?> _method = new("--method")
    {
        Description = "Show only messages of this method: Method, Interface.Method or an id.", HelpName = "NAME"
    };
    private readonly NumberOption _call = new("--call", "ID", 0, NumberOption.PositionMax, "Show only messages with this call id.");
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
            new Lsn(_from.PositionOf(parsed) ?? 0), _to.PositionOf(parsed) is { } to ? new Lsn(to) : null, TimeOf(parsed, _since, now),
            TimeOf(parsed, _until, now), parsed.GetValue(_sender),
            parsed.GetValue(_method) is { } method ? contracts.IdsOf(method) : null, _call.PositionOf(parsed), KindOf(parsed));
    }

    /// <summary>A name that no line can have would show an empty log, as if there were nothing.</summary>
    private string? KindOf(ParseResult parsed)
    {
        string? kind = parsed.GetValue(_kind);
        if (kind is null || s_kinds.Contains(kind, StringComparer.OrdinalIgnoreCase)) return kind;
        throw new ToolMisuse($"'{kind}' of {_kind.Name} is no kind", "", $"give one of {string.Join(", ", s_kinds)}");
    }

    private static long? TimeOf(ParseResult parsed, Option<string?> option, DateTimeOffset now)
    {
        if (parsed.GetValue(option) is not { } text) return null;
        return TimeArgument.Parse(text, now)
            ?? throw new ToolMisuse($"'{text}' of {option.Name} is no time", "",
                "write it like 2026-11-21T08:00:00Z, or like 15m for fifteen minutes ago");
    }
}
