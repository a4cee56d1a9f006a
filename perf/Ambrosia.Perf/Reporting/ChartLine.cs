namespace Ambrosia.Perf;

/// <summary>A line of a <see cref="Chart"/>; every coordinate is above 0.</summary>
internal sealed record ChartLine(string Name, IReadOnlyList<(double X, double Y)> Points);
