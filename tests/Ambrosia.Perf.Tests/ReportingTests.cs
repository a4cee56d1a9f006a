using System.Xml.Linq;

namespace Ambrosia.Perf.Tests;

public sealed class ReportingTests
{
    [Fact]
    public void Ratio_OfPairs_IsMedianAndRange()
    {
        PairedRatio ratio = PairedRatio.Of("rival", Rounds((2, 10), (4, 10), (9, 10)), Rounds((1, 10), (1, 10), (3, 10)),
            bestSpinnerMs: 10);

        Assert.Equal((3.0, 2.0, 4.0), (ratio.Median, ratio.Min, ratio.Max));
        Assert.Equal((3, 0), (ratio.Pairs, ratio.Dropped));
    }

    [Fact]
    public void Ratio_OfPairsOnASlowMachine_IsDroppedAndCounted()
    {
        PairedRatio ratio = PairedRatio.Of("rival", Rounds((2, 10), (8, 12), (4, 11)), Rounds((1, 10), (1, 10), (1, 12)),
            bestSpinnerMs: 10);

        Assert.Equal((2.0, 1, 2), (ratio.Median, ratio.Pairs, ratio.Dropped));
        Assert.Null(PairedRatio.Of("rival", Rounds((2, 20)), Rounds((1, 10)), bestSpinnerMs: 10).Median);
    }

    [Fact]
    public void Chart_IsWellFormedWithALineForEachLeg()
    {
        var chart = new Chart("", "a < b", "bytes", "MB/s",
            [new ChartLine("one & only", [(16, 5), (65536, 900)]), new ChartLine("two", [(16, 50)])]);

        XElement svg = XDocument.Parse(chart.ToSvg()).Root!;

        Assert.Equal(2, svg.Descendants().Count(static each => each.Name.LocalName == "polyline"));
        Assert.Equal(3, svg.Descendants().Count(static each => each.Name.LocalName == "circle"));
        Assert.Contains(svg.Descendants(), static each => each.Value == "one & only");
    }

    [Fact]
    public void Chart_OfNothingOrBelowZero_IsRefused()
    {
        Assert.Throws<InvalidOperationException>(() => new Chart("", "none", "x", "y", []).ToSvg());
        Assert.Throws<InvalidOperationException>(() => new Chart("", "none", "x", "y", [new ChartLine("bad", [(0, 1)])]).ToSvg());
    }

    [Theory]
    [InlineData("1ms", 1000)]
    [InlineData("500us", 500)]
    [InlineData("2s", 2_000_000)]
    [InlineData("1.5ms", 1500)]
    public void Interval_IsRead(string text, double micros) => Assert.Equal(TimeSpan.FromMicroseconds(micros), Options.ParseInterval(text));

    [Theory]
    [InlineData("")]
    [InlineData("ms")]
    [InlineData("1")]
    [InlineData("-1ms")]
    [InlineData("1us")]
    [InlineData("2h")]
    public void Interval_Wrong_IsNone(string text) => Assert.Null(Options.ParseInterval(text));

    [Fact]
    public void ProcessorTime_OfThisProcess_Grows()
    {
        double before = ProcessorTime.OfProcess(Environment.ProcessId);
        Spinner.Run();
        Assert.True(ProcessorTime.OfProcess(Environment.ProcessId) > before);
        Assert.Throws<FailedRoundException>(() => ProcessorTime.OfProcess(1 << 23));
    }

    private static StreamRound[] Rounds(params (double PerSecond, double SpinnerMs)[] rounds) =>
        [.. rounds.Select(
            static each => new StreamRound(1000, 16, 1000 / each.PerSecond, new Usage(1, 1, 1, 0, 0)) { SpinnerMs = each.SpinnerMs })];
}
