using System.Globalization;

namespace Ambrosia.Tools;

/// <summary>The messages that an instance has set aside, in the order of the log.</summary>
internal sealed record QuarantineReport(IReadOnlyList<SetAsideRow> Messages, ulong ArgumentBytes) : IReport
{
    public void Draw(Screen screen)
    {
        if (Messages.Count == 0)
        {
            screen.Line("No message is set aside.", Tone.Good);
            return;
        }
        var table = new TextTable("message", "last try", "kind", "caller", "method", ">tries", ">bytes", "why");
        foreach (SetAsideRow row in Messages)
            table.Add(row.Message, row.Time, row.Kind, row.Caller, row.Method, Cell(row.Tries), Cell(row.ArgumentBytes),
                row.Why.ReplaceLineEndings(" "));
        screen.Table(table);
    }

    private static string Cell(ulong number) => number.ToString(CultureInfo.InvariantCulture);
}
