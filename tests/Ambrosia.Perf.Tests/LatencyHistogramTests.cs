namespace Ambrosia.Perf.Tests;

public sealed class LatencyHistogramTests
{
    [Fact]
    public void Percentiles_KnownDurations_AreWithinABucket()
    {
        var histogram = new LatencyHistogram();
        for (int us = 1; us <= 10_000; us++) histogram.Add(TimeSpan.FromMicroseconds(us));

        Assert.Equal(10_000, histogram.Count);
        Assert.InRange(histogram.At(50).TotalMicroseconds, 5_000, 5_000 * 1.017);
        Assert.InRange(histogram.At(99.9).TotalMicroseconds, 9_990, 10_000);
        Assert.Equal(TimeSpan.FromMicroseconds(10_000), histogram.At(100));
        Assert.Equal(TimeSpan.FromMicroseconds(10_000), histogram.Max);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(100)]
    [InlineData(6_300)]
    [InlineData(6_400)]
    [InlineData(12_345_600)]
    [InlineData(86_400_000_000_000)]
    public void Percentiles_OneDuration_AreIt(long ns)
    {
        var histogram = new LatencyHistogram();
        histogram.Add(TimeSpan.FromTicks(ns / 100));

        Assert.Equal(TimeSpan.FromTicks(ns / 100), histogram.At(50));
        Assert.Equal(TimeSpan.FromTicks(ns / 100), histogram.Max);
    }

    [Fact]
    public void Percentiles_RandomDurations_AgreeWithASortedList()
    {
        var random = new Random(4);
        var histogram = new LatencyHistogram();
        double[] all = new double[5_000];
        for (int i = 0; i < all.Length; i++)
        {
            var duration = TimeSpan.FromMicroseconds(Math.Exp(random.NextDouble() * 12));
            all[i] = duration.TotalMicroseconds;
            histogram.Add(duration);
        }
        Array.Sort(all);

        foreach (double percentile in new[] { 1, 10, 50, 90, 99, 99.9 })
        {
            double exact = all[(int)Math.Ceiling(all.Length * percentile / 100) - 1];
            Assert.InRange(histogram.At(percentile).TotalMicroseconds, exact * 0.999, (exact * 1.017) + 0.1);
        }
    }

    [Fact]
    public void Percentile_OfNothing_IsZero() => Assert.Equal(TimeSpan.Zero, new LatencyHistogram().At(50));

    [Fact]
    public void Latencies_PrintedAndRead_AreTheSame()
    {
        var histogram = new LatencyHistogram();
        histogram.Add(TimeSpan.FromMicroseconds(100));
        histogram.Add(TimeSpan.FromMicroseconds(300));

        Latencies read = Latencies.Parse(histogram.ToString().Split(' '));

        Assert.Equal(2, read.Count);
        Assert.Equal(300, read.Max);
        Assert.InRange(read.P50, 100, 102);
    }
}
