using System.CommandLine;
using System.CommandLine.Parsing;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Records;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Listing;

/// <summary>
/// The command <c>ambrosia log DIR</c> shows what is in a log: as a summary, with --pages page by page, with --records message by message.
/// </summary>
internal sealed class LogToolCommand : ToolCommand
{
    private const int CountMax = 1_000_000, StringBytesShown = 256;

    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Option<bool> _pages = new("--pages") { Description = "Show every page, a line each." };
    private readonly Option<bool> _records = new("--records") { Description = "Show every message and record, a line each." };
    private readonly Option<string[]> _contract = new("--contract")
    {
        Description = "Contract manifest (*.contract.json, beside the app's assembly) or a directory with some. Methods and arguments are then shown with their names.",
        HelpName = "FILE|DIR"
    };
    private readonly EntryFilterOptions _filter = new();
    private readonly NumberOption _head = new("--head", "N", 1, CountMax, "Show only the first N lines.");
    private readonly NumberOption _tail = new("--tail", "N", 1, CountMax, "Show only the last N lines.");
    private readonly Option<bool> _full = new("--full")
    {
        Description = $"Show texts and bytes as long as they are, not {StringBytesShown} bytes of each."
    };

    public LogToolCommand(ToolStreams streams)
        : base(streams, "log", "Shows what is in a log: segments, epochs, checkpoints; pages; records with their calls.")
    {
        foreach (Option option in (Option[])[_pages, _records, _contract, .. _filter.All, _head, _tail, _full]) Add(option);
        Add(_directory);
        Validators.Add(CheckCombinations);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        HeaderCheck headers = HeaderCheck.Run(log);
        log = log with { Files = headers.Readable };
        bool pages = parsed.GetValue(_pages);
        if (!pages && !((Option[])[_records, _contract, .. _filter.All, _head, _tail, _full]).Any(option => IsGiven(parsed, option)))
        {
            LogSummary summary = LogSummary.Read(log, headers.Unusable);
            screen.Show(summary);
            return summary.HasDamage ? ToolExit.Damage : ToolExit.Fine;
        }
        ContractManifests contracts = ContractManifests.Load(parsed.GetValue(_contract) ?? [], log.Location);
        EntryFilter filter = _filter.Read(parsed, contracts);
        var listing = new LogListing(log, headers.Unusable, filter, _head.IntOf(parsed), _tail.IntOf(parsed));
        return pages ? listing.Pages(screen)
            : listing.Records(screen, new MessageFormatter(contracts, parsed.GetValue(_full) ? int.MaxValue : StringBytesShown));
    }

    private void CheckCombinations(CommandResult result)
    {
        bool Given(Option option) => result.GetResult(option) is { Implicit: false };
        if (Given(_head) && Given(_tail)) result.AddError("--head and --tail exclude each other; give one");
        if (Given(_pages) && Given(_records)) result.AddError("--pages and --records exclude each other; give one");
        if (Given(_pages) && (Given(_contract) || _filter.OfMessages.Any(Given)))
            result.AddError(
                "--pages shows no messages, so --sender, --method, --call, --kind and --contract cannot choose among them; use --records");
    }

    private static bool IsGiven(ParseResult parsed, Option option) => parsed.GetResult(option) is { Implicit: false };
}
