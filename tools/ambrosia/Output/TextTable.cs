using System.Globalization;
using System.Text;

namespace Ambrosia.Tools.Output;

/// <summary>
/// A table of texts. <see cref="Screen.Table"/> draws it with lines on a terminal, and as aligned columns of full width in a pipe.
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
        _rows.Add(cells);
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

/// <summary>Writes numbers, sizes and times as people read them. Times are UTC.</summary>
internal static class TextFormat
{
    private static readonly string[] s_units = ["KiB", "MiB", "GiB", "TiB", "PiB"];

    public static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);

    public static string Number(ulong value) => value.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>Writes a size like "812 bytes" or "64.0 KiB".</summary>
    public static string Size(long bytes)
    {
        if (bytes < 1024) return string.Create(CultureInfo.InvariantCulture, $"{bytes} bytes");
        double value = bytes;
        int unit = -1;
        while (value >= 1024 && unit < s_units.Length - 1)
        {
            value /= 1024;
            unit++;
        }
        return string.Create(CultureInfo.InvariantCulture, $"{value:F1} {s_units[unit]}");
    }

    /// <summary>Writes a time as ISO 8601 with microseconds. A time outside the calendar is written as its number of µs.</summary>
    public static string Time(long micros)
    {
        const long last = 253_402_300_799_999_999; // the year 9999
        if (micros is < 0 or > last) return string.Create(CultureInfo.InvariantCulture, $"{micros} µs");
        return DateTime.UnixEpoch.AddTicks(micros * TimeSpan.TicksPerMicrosecond)
            .ToString("yyyy-MM-dd'T'HH:mm:ss.ffffff'Z'", CultureInfo.InvariantCulture);
    }

    public static string Hash(ulong hash) => $"0x{hash:x16}";
}
