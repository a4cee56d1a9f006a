namespace Ambrosia.Perf;

/// <summary>The middle of an odd number of values, the mean of the two middle ones of an even number.</summary>
internal static class Median
{
    public static double Of<T>(IEnumerable<T> items, Func<T, double> value)
    {
        double[] sorted = [.. items.Select(value).Order()];
        if (sorted.Length == 0) throw new ArgumentException("nothing has no median", nameof(items));
        int middle = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
