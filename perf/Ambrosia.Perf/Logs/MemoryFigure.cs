namespace Ambrosia.Perf;

/// <summary>Several ways to do the same thing in memory, which took turns.</summary>
/// <param name="X">Writers at once, or bytes at once.</param>
/// <param name="Units">Records or bytes of a round.</param>
/// <param name="Ways">Ours first.</param>
internal sealed record MemoryFigure(string What, int X, long Units, IReadOnlyList<MemoryWay> Ways)
{
    /// <summary>Nanoseconds of a record or byte.</summary>
    public double NanosecondsOf(MemoryWay way) => Median.Of(way.Seconds, static s => s) * 1e9 / Units;

    /// <summary>Time of ours over that of another: the median of the pairs.</summary>
    public double OursOver(MemoryWay other) =>
        Median.Of([.. Ways[0].Seconds.Zip(other.Seconds, static (ours, theirs) => ours / theirs)], static r => r);
}

/// <summary>One way.</summary>
/// <param name="Seconds">Each round.</param>
internal sealed record MemoryWay(string Name, IReadOnlyList<double> Seconds);
