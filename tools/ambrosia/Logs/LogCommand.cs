using System.CommandLine;
using System.CommandLine.Parsing;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>ambrosia log DIR: what is in a log; with --pages or --records page by page or message by message.</summary>
internal sealed class LogCommand : ToolCommand
{
    private const int CountMax = 1_000_000, StringBytesShown = 256;

    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Option<bool> _pages = new("--pages") { Description = "Every page, a line each." };
    private readonly Option<bool> _records = new("--records") { Description = "Every message and record, a line each." };
    private readonly Option<string[]> _contract = new("--contract")
    {
        Description = "Contract manifest (*.contract.json, beside the app's assembly) or a directory with some: gives methods and arguments their names.",
        HelpName = "FILE|DIR"
    };
    private readonly Option<string?> _since = new("--since")
    {
        Description = "Not before this time: 2026-11-21T08:00:00Z, or 90s, 15m, 2h, 7d ago.", HelpName = "TIME"
    };
    private readonly Option<string?> _until = new("--until") { Description = "Not after this time.", HelpName = "TIME" };
    private readonly Option<ulong?> _from = new("--from") { Description = "Not before this position.", HelpName = "LSN" };
    private readonly Option<ulong?> _to = new("--to") { Description = "Before this position.", HelpName = "LSN" };
    private readonly Option<string?> _sender = new("--sender") { Description = "Messages of this instance.", HelpName = "NAME" };
    private readonly Option<string?> _method = new("--method")
    {
        Description = "Messages of this method: Method, Interface.Method or an id.", HelpName = "NAME"
    };
    private readonly Option<ulong?> _call = new("--call") { Description = "Messages with this call id.", HelpName = "ID" };
    private readonly Option<string?> _kind = new("--kind")
    {
        Description = "Of this kind: fork, call, result, failure, impulse, peer, trim, digest, checkpointMark …", HelpName = "KIND"
    };
    private readonly Option<int?> _head = new("--head") { Description = "The first N lines.", HelpName = "N" };
    private readonly Option<int?> _tail = new("--tail") { Description = "The last N lines.", HelpName = "N" };
    private readonly Option<bool> _full = new("--full")
    {
        Description = $"Texts and bytes as long as they are, not {StringBytesShown} bytes of each."
    };

    public LogCommand(ToolStreams streams)
        : base(streams, "log", "Shows what is in a log: segments, epochs, checkpoints; pages; records with their calls.")
    {
        foreach (Option option in (Option[])[_pages, _records, _contract, _since, _until, _from, _to, _sender, _method, _call, _kind, _head,
            _tail, _full]) Add(option);
        Add(_directory);
        Validators.Add(CheckTogether);
        foreach (Option<int?> count in (Option<int?>[])[_head, _tail]) count.Validators.Add(CheckCount);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        HeaderCheck headers = HeaderCheck.Run(place);
        place = place with { Files = headers.Readable };
        bool pages = parsed.GetValue(_pages);
        if (!pages
            && !((Option[])[_records, _contract, _since, _until, _from, _to, _sender, _method, _call, _kind, _head, _tail, _full]).Any(
                option => IsGiven(parsed, option)))
        {
            LogSummary summary = LogSummary.Read(place, headers.Unusable);
            screen.Show(summary);
            return summary.HasDamage ? ToolExit.Damage : ToolExit.Fine;
        }
        Contracts contracts = Contracts.Load(parsed.GetValue(_contract) ?? []);
        EntryFilter filter = FilterOf(parsed, contracts);
        var listing = new LogListing(place, headers.Unusable, filter, parsed.GetValue(_head), parsed.GetValue(_tail));
        return pages ? listing.Pages(screen)
            : listing.Records(screen, new MessageText(contracts, parsed.GetValue(_full) ? int.MaxValue : StringBytesShown));
    }

    private EntryFilter FilterOf(ParseResult parsed, Contracts contracts)
    {
        DateTimeOffset now = TimeProvider.System.GetUtcNow();
        return new EntryFilter(
            new Lsn(parsed.GetValue(_from) ?? 0), parsed.GetValue(_to) is { } to ? new Lsn(to) : null, MomentOf(parsed, _since, now),
            MomentOf(parsed, _until, now), parsed.GetValue(_sender),
            parsed.GetValue(_method) is { } method ? contracts.IdsOf(method) : null, parsed.GetValue(_call), parsed.GetValue(_kind));
    }

    private static long? MomentOf(ParseResult parsed, Option<string?> option, DateTimeOffset now)
    {
        if (parsed.GetValue(option) is not { } text) return null;
        return MomentText.Parse(text, now)
            ?? throw new ToolMisuse($"'{text}' of {option.Name} is no time", "",
                "write it like 2026-11-21T08:00:00Z, or like 15m for fifteen minutes ago");
    }

    private void CheckTogether(CommandResult result)
    {
        bool Given(Option option) => result.GetResult(option) is { Implicit: false };
        if (Given(_head) && Given(_tail)) result.AddError("--head and --tail exclude each other; give one");
        if (Given(_pages) && Given(_records)) result.AddError("--pages and --records exclude each other; give one");
        if (Given(_pages) && (Given(_sender) || Given(_method) || Given(_call) || Given(_kind) || Given(_contract)))
            result.AddError(
                "--pages shows no messages, so --sender, --method, --call, --kind and --contract cannot choose among them; use --records");
    }

    private static void CheckCount(OptionResult result)
    {
        if (result.GetValueOrDefault<int?>() is < 1 or > CountMax) result.AddError($"{result.Option.Name} is from 1 to {CountMax}");
    }

    private static bool IsGiven(ParseResult parsed, Option option) => parsed.GetResult(option) is { Implicit: false };
}
