using System.CommandLine;
using System.Globalization;
using System.Text.Json.Nodes;

namespace Ambrosia.Tools;

/// <summary>ambrosia quarantine list DIR.</summary>
internal sealed class QuarantineListCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Option<string[]> _contract = new("--contract")
    {
        Description = "Contract manifest, or a directory with such files: names instead of ids.", HelpName = "PATH"
    };

    public QuarantineListCommand(ToolStreams streams)
        : base(streams, "list", "Shows the messages that are set aside now, in the order of the log.")
    {
        Add(_directory);
        Add(_contract);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        Contracts contracts = Contracts.Load(parsed.GetValue(_contract) ?? []);
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        IReadOnlyList<JsonObject> answers = AdminCall.AskAll(place.Directory, AdminCall.PrimaryOf(place.Directory),
            new JsonObject { ["command"] = "quarantine", ["action"] = "list" });
        SetAsideRow[] rows = [.. answers.Where(static answer => answer["message"] is not null).Select(answer => RowOf(answer, contracts))];
        screen.Show(new QuarantineReport(rows, rows.Aggregate(0UL, static (sum, row) => sum + row.ArgumentBytes)));
        return ToolExit.Fine;
    }

    private static SetAsideRow RowOf(JsonObject answer, Contracts contracts)
    {
        uint id = (uint?)answer["method"] ?? 0;
        string[] names = [.. contracts.MethodsOf(id).Select(static method => method.ToString()).Distinct()];
        string method = names.Length > 0 ? string.Join('|', names) : string.Create(CultureInfo.InvariantCulture, $"0x{id:x}");
        return new SetAsideRow(
            (string?)answer["message"] ?? "", Wording.Time((long?)answer["time"] ?? 0), (string?)answer["kind"] ?? "",
            (string?)answer["caller"] ?? "", method,
            (uint?)answer["tries"] ?? 0, (ulong?)answer["argumentBytes"] ?? 0, (string?)answer["why"] ?? "");
    }
}
