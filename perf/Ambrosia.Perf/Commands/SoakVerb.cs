using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>soak</c> on the command line.</summary>
internal sealed class SoakVerb(string[] args)
{
    private readonly Option<long> _logBytes = Options.Size("--log-bytes", "Log to write.", "16G");
    private readonly Option<long> _segment = Options.Size("--segment", "Bytes of a segment.", "256M");
    private readonly Option<string> _write = LogVerb.Write();

    public Command Command => new Measurement("soak", args).Build(
        "Far more log than is kept: that disk and memory stay bounded, and the rate of the last GiB over that of the first.", Measure,
        _logBytes, _segment, _write);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        SoakResult found = new SoakCommand(cluster, LogVerb.ModeOf(parsed.GetRequiredValue(_write)))
            .Run(parsed.GetValue(_logBytes), parsed.GetValue(_segment));
        double bytes = Math.Min(1L << 30, found.LogBytes / 4);
        var chart = new Chart("-rate", "Log written with retention on", "stretch", "GB/s",
            [new ChartLine("ours", [.. found.Stretches.Select(each => ((double)each.Gibibyte, bytes / each.Seconds / 1e9))])]);
        return new Outcome(found, LogVerb.Durability, () =>
        {
            Report.Show(["stretch", "s", "GB/s", "disk MiB", "resident MiB"], found.Stretches.Select(each => new[]
            {
                $"{each.Gibibyte}", Report.Number(each.Seconds, "F2"), Report.Number(bytes / each.Seconds / 1e9, "F2"),
                $"{each.DiskBytes >> 20}", $"{each.ResidentBytes >> 20}",
            }));
            Console.WriteLine(
                $"last over first: {found.LastOverFirst:F2}; {found.Rotations} rotations, {found.Recycled} files written again, {found.ZeroWaits} commits waited for zeros, {found.SpaceWaits} for space");
        })
        { Charts = [chart] };
    }
}
