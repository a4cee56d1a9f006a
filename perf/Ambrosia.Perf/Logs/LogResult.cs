namespace Ambrosia.Perf;

/// <summary>Pairs of rounds, ours and the floor's one after the other, of the same bytes.</summary>
/// <param name="What">append 4096, stream 16, read.</param>
/// <param name="OursSeconds">Each round.</param>
internal sealed record LogFigure(string What, long Bytes, IReadOnlyList<double> OursSeconds, IReadOnlyList<double> FloorSeconds)
{
    public double OursGigabytesPerSecond => Bytes / Median.Of(OursSeconds, static s => s) / 1e9;

    public double FloorGigabytesPerSecond => Bytes / Median.Of(FloorSeconds, static s => s) / 1e9;

    /// <summary>Our rate over the floor's: the median of the pairs.</summary>
    public double Ratio => Median.Of([.. OursSeconds.Zip(FloorSeconds, static (ours, floor) => floor / ours)], static r => r);
}

/// <summary>What <c>log</c> measured.</summary>
/// <param name="FileBytesPerPayloadByte">Of messages of 16 bytes.</param>
/// <param name="Memory">What of it needs no disk.</param>
internal sealed record LogResult(
    bool IsDirect, double FileBytesPerPayloadByte, IReadOnlyList<LogFigure> Figures, IReadOnlyList<MemoryFigure> Memory);

/// <summary>One GiB of a long run.</summary>
/// <param name="DiskBytes">Lengths of all files of the log afterwards.</param>
internal sealed record SoakStretch(long Gibibyte, double Seconds, long DiskBytes, long ResidentBytes);

/// <summary>What <c>soak</c> measured.</summary>
internal sealed record SoakResult(
    long LogBytes, long Rotations, long Recycled, long ZeroWaits, long SpaceWaits, IReadOnlyList<SoakStretch> Stretches)
{
    /// <summary>Rate of the last stretch over that of the first.</summary>
    public double LastOverFirst => Stretches[0].Seconds / Stretches[^1].Seconds;
}
