// Lines over two logarithmic axes as SVG, with nothing but a string: what a figure of throughput over message size needs, and no more.
// Colours are distinguishable in black and white too, since each line is named at its end.
using System.Globalization;
using System.Security;
using System.Text;

namespace Ambrosia.Perf;

/// <summary>One picture.</summary>
/// <param name="Suffix">Of the file's name, before .svg.</param>
internal sealed record Chart(string Suffix, string Title, string XAxis, string YAxis, IReadOnlyList<ChartLine> Lines)
{
    private const int Width = 760, Height = 440, Left = 80, Right = 170, Top = 44, Bottom = 56;

    private static readonly string[] s_colours = ["#0b5fa5", "#c1440e", "#2e7d32", "#7b1fa2", "#8d6e00", "#455a64", "#ad1457"];

    /// <exception cref="InvalidOperationException">There is no point, or one that has no logarithm.</exception>
    public string ToSvg()
    {
        (double X, double Y)[] points = [.. Lines.SelectMany(static line => line.Points)];
        if (points.Length == 0 || points.Any(static point => point.X <= 0 || point.Y <= 0))
            throw new InvalidOperationException($"'{Title}' has no points, or some that are not above 0");
        (double from, double to) x = Around(points.Select(static point => point.X)), y = Around(points.Select(static point => point.Y));
        var svg = new StringBuilder();
        svg.Append(CultureInfo.InvariantCulture,
            $"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {Width} {Height}" font-family="sans-serif" font-size="12"><rect width="{Width}" height="{Height}" fill="white"/>""")
            .AppendLine();
        Text(svg, Left, 24, "start", Title, 15);
        Text(svg, (Left + Width - Right) / 2.0, Height - 14, "middle", XAxis);
        Text(svg, Left, Top - 6, "end", YAxis);
        Grid(svg, x, y);
        for (int i = 0; i < Lines.Count; i++) Draw(svg, Lines[i], s_colours[i % s_colours.Length], x, y);
        return svg.AppendLine("</svg>").ToString();
    }

    private static void Grid(StringBuilder svg, (double From, double To) x, (double From, double To) y)
    {
        for (double at = x.From; at <= x.To * 1.001; at *= 4)
        {
            double px = XOf(at, x);
            Rule(svg, px, Top, px, Height - Bottom);
            Text(svg, px, Height - Bottom + 18, "middle", Short(at, 1024));
        }
        for (double at = Math.Pow(10, Math.Ceiling(Math.Log10(y.From) - 1e-9)); at <= y.To * 1.001; at *= 10)
        {
            double py = YOf(at, y);
            Rule(svg, Left, py, Width - Right, py);
            Text(svg, Left - 6, py + 4, "end", Short(at, 1000));
        }
    }

    private static void Draw(StringBuilder svg, ChartLine line, string colour, (double From, double To) x, (double From, double To) y)
    {
        (double X, double Y)[] points =
            [.. line.Points.OrderBy(static point => point.X).Select(point => (XOf(point.X, x), YOf(point.Y, y)))];
        string path = string.Join(' ', points.Select(static point => $"{Coordinate(point.X)},{Coordinate(point.Y)}"));
        svg.AppendLine($"""<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>""");
        foreach ((double px, double py) in points)
            svg.AppendLine($"""<circle cx="{Coordinate(px)}" cy="{Coordinate(py)}" r="3" fill="{colour}"/>""");
        Text(svg, points[^1].X + 8, points[^1].Y + 4, "start", line.Name, 12, colour);
    }

    /// <summary>The axis: from a power of four below to one above.</summary>
    private static (double From, double To) Around(IEnumerable<double> values)
    {
        double[] all = [.. values];
        double from = Math.Pow(4, Math.Floor(Math.Log(all.Min(), 4) + 1e-9)), to = Math.Pow(4, Math.Ceiling(Math.Log(all.Max(), 4) - 1e-9));
        return (from, to > from ? to : from * 4);
    }

    private static double XOf(double value, (double From, double To) x) =>
        Left + (Math.Log(value / x.From) / Math.Log(x.To / x.From) * (Width - Left - Right));

    private static double YOf(double value, (double From, double To) y) =>
        Height - Bottom - (Math.Log(value / y.From) / Math.Log(y.To / y.From) * (Height - Top - Bottom));

    private static string Coordinate(double value) => value.ToString("F1", CultureInfo.InvariantCulture);

    /// <summary>1024 is "1K" by 1024, 1000000 is "1M" by 1000.</summary>
    private static string Short(double value, double step)
    {
        int power = 0;
        for (; value >= step && power < 4; power++) value /= step;
        return value.ToString("G3", CultureInfo.InvariantCulture) + " KMGT"[power].ToString().Trim();
    }

    private static void Rule(StringBuilder svg, double x1, double y1, double x2, double y2) =>
        svg.AppendLine(
            $"""<line x1="{Coordinate(x1)}" y1="{Coordinate(y1)}" x2="{Coordinate(x2)}" y2="{Coordinate(y2)}" stroke="#ddd"/>""");

    private static void Text(StringBuilder svg, double x, double y, string anchor, string text, int size = 12, string colour = "#222") =>
        svg.AppendLine(
            $"""<text x="{Coordinate(x)}" y="{Coordinate(y)}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{SecurityElement.Escape(text)}</text>""");
}
