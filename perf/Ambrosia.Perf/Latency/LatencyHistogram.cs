// Log-linear counts of durations: each power of two of nanoseconds has 64 buckets, so a value is known to 1.6 % whatever its size. Fixed
// memory, no allocation when adding. Invariant: the counts' sum is Count.
using System.Globalization;
using System.Numerics;

namespace Ambrosia.Perf;

internal sealed class LatencyHistogram
{
    private const int SubBits = 6;
    private const int SubBuckets = 1 << SubBits;

    // Values below 64 ns have a bucket each, then 64 for every further power of two.
    private readonly long[] _counts = new long[(64 - SubBits + 1) * SubBuckets];

    public long Count { get; private set; }

    /// <summary>Exact.</summary>
    public TimeSpan Max { get; private set; }

    public void Add(TimeSpan duration)
    {
        ulong ns = (ulong)Math.Max(0, duration.TotalNanoseconds);
        _counts[BucketOf(ns)]++;
        Count++;
        if (duration > Max) Max = duration;
    }

    /// <summary>The duration that so many of 100 do not exceed: the upper end of its bucket, at most <see cref="Max"/>.</summary>
    /// <param name="percentile">Above 0, at most 100.</param>
    public TimeSpan At(double percentile)
    {
        if (percentile is not (> 0 and <= 100)) throw new ArgumentOutOfRangeException(nameof(percentile));
        long rank = (long)Math.Ceiling(Count * (percentile / 100));
        long seen = 0;
        for (int bucket = 0; bucket < _counts.Length; bucket++)
        {
            seen += _counts[bucket];
            if (seen < rank || seen == 0) continue;
            var upper = TimeSpan.FromMicroseconds(UpperEnd(bucket) / 1000.0);
            return upper < Max ? upper : Max;
        }
        return Max;
    }

    /// <summary>Count, p50, p90, p99, p99.9 and max, in microseconds.</summary>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Count} {At(50).TotalMicroseconds:F1} {At(90).TotalMicroseconds:F1} {At(99).TotalMicroseconds:F1} {At(99.9).TotalMicroseconds:F1} {Max.TotalMicroseconds:F1}");

    private static int BucketOf(ulong ns)
    {
        if (ns < SubBuckets) return (int)ns;
        int shift = BitOperations.Log2(ns) - SubBits;
        return ((shift + 1) * SubBuckets) + (int)((ns >> shift) - SubBuckets);
    }

    private static double UpperEnd(int bucket)
    {
        if (bucket < SubBuckets) return bucket;
        int shift = (bucket / SubBuckets) - 1;
        return Math.ScaleB((bucket % SubBuckets) + SubBuckets + 1, shift) - 1;
    }
}
