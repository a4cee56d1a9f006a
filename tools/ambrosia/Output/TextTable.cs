using System.Globalization;
using System.Text;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Tools.Output;

/// <summary>
/// A table of harmless texts. <see cref="Screen.Table"/> draws it with lines on a terminal, and as aligned columns of full width in a pipe.
/// </summary>
/// <param name="columns">The titles of the columns; one that begins with '&gt;' is aligned to the right.</param>
internal sealed class TextTable(params string[] columns)
{
    private const int Gap = 2;

    private readonly List<string[]> _rows = [];

    public IReadOnlyList<string> Titles { get; } = [.. columns.Select(static column => column.TrimStart('>'))];

    public IReadOnlyList<string[]> Rows => _rows;

    public bool IsRight(int column) => columns[column][0] == '>';

    public void Add(params string[] cells)
    {
        if (cells.Length != columns.Length) throw new ArgumentException($"{cells.Length} cells in a table of {columns.Length} columns");
        _rows.Add([.. cells.Select(HarmlessText.Line)]);
    }

    /// <summary>Returns the lines of the plain form. The titles come first; no line ends with spaces.</summary>
    public IEnumerable<string> Lines()
    {
        int[] widths = [.. Titles.Select((title, i) => _rows.Select(row => row[i].Length).Append(title.Length).Max())];
        return _rows.Prepend([.. Titles]).Select(row => Line(row, widths));
    }

    private string Line(string[] row, int[] widths)
    {
        var line = new StringBuilder();
        for (int i = 0; i < row.Length; i++)
        {
            if (i > 0) line.Append(' ', Gap);
            line.Append(IsRight(i) ? row[i].PadLeft(widths[i]) : row[i].PadRight(widths[i]));
        }
        return line.ToString().TrimEnd();
    }
}
