using System.CommandLine;
using System.Globalization;
using System.Text.Json.Nodes;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Texts;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Replicas;

namespace Ambrosia.Tools.Quarantine;

/// <summary>The command <c>ambrosia quarantine list DIR</c> shows the messages that are in quarantine.</summary>
internal sealed class QuarantineListToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };
    private readonly Option<string[]> _contract = new("--contract")
    {
        Description = "Contract manifest, or a directory with such files. Methods are then shown with their names instead of ids.",
        HelpName = "PATH"
    };

    public QuarantineListToolCommand(ToolStreams streams)
        : base(streams, "list", "Shows the messages and the tasks that are in quarantine now, in the order of the log.")
    {
        Add(_directory);
        Add(_contract);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        ContractManifests contracts = ContractManifests.Load(parsed.GetValue(_contract) ?? [], log.Location);
        IReadOnlyList<JsonObject> answers = AdminCall.AskAll(log.Path, AdminCall.PrimaryOf(log.Path),
            new JsonObject { ["command"] = "quarantine", ["action"] = "list" });
        QuarantinedMessage[] rows =
            [.. answers.Where(static answer => answer["message"] is not null).Select(answer => RowOf(answer, contracts))];
        screen.Show(new QuarantineReport(rows, rows.Aggregate(0UL, static (sum, row) => sum + row.ArgumentBytes)));
        return ToolExit.Fine;
    }

    private static QuarantinedMessage RowOf(JsonObject answer, ContractManifests contracts)
    {
        uint id = (uint?)answer["method"] ?? 0;
        string[] names = [.. contracts.MethodsOf(id).Select(static method => method.ToString()).Distinct()];
        string method = id == 0 ? "" : names.Length > 0 ? string.Join('|', names) : string.Create(CultureInfo.InvariantCulture, $"0x{id:x}");
        return new QuarantinedMessage(
            (string?)answer["message"] ?? "", (long?)answer["time"] is { } time ? TextFormat.Time(time) : "", (string?)answer["kind"] ?? "",
            (string?)answer["caller"] ?? "", method,
            (uint?)answer["tries"] ?? 0, (ulong?)answer["argumentBytes"] ?? 0, (string?)answer["why"] ?? "");
    }
}

/// <summary>Reports the messages that an instance keeps in quarantine, in the order of the log.</summary>
internal sealed record QuarantineReport(IReadOnlyList<QuarantinedMessage> Messages, ulong ArgumentBytes) : IReport
{
    public void Draw(Screen screen)
    {
        if (Messages.Count == 0)
        {
            screen.Line("No message and no task is set aside.", Tone.Good);
            return;
        }
        var table = new TextTable("message", "last try", "kind", "caller", "method", ">tries", ">bytes", "why");
        foreach (QuarantinedMessage row in Messages)
            table.Add(row.Message, row.Time, row.Kind, row.Caller, row.Method, Cell(row.Tries), Cell(row.ArgumentBytes),
                row.Why.ReplaceLineEndings(" "));
        screen.Table(table);
    }

    private static string Cell(ulong number) => number.ToString(CultureInfo.InvariantCulture);
}

/// <summary>It describes one message in quarantine.</summary>
/// <param name="Message">The place in the log by which commands name it.</param>
/// <param name="Method">The name of the method where a contract has it, else its id.</param>
/// <param name="Tries">How often its handler has thrown.</param>
internal sealed record QuarantinedMessage(
    string Message, string Time, string Kind, string Caller, string Method, uint Tries, ulong ArgumentBytes, string Why);
