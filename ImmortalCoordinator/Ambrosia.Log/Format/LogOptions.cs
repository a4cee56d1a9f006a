namespace Ambrosia.Log.Format;

/// <summary>
/// Holds the sizes that the owner of a log chooses. The format (docs/log-format.md) bounds them, and <see cref="Check"/> refuses the rest.
/// </summary>
public sealed record LogOptions
{
    /// <summary>The length of a segment file in bytes, header included. A record that is larger alone makes its segment larger.</summary>
    public long SegmentBytes { get; init; } = 256L << 20;

    /// <summary>The length in bytes of the largest page with several records, header included; a multiple of 4,096.</summary>
    public int PageBytes { get; init; } = 1 << 20;

    /// <summary>The number of pages for writers and the committer, at least 2. Two more are made when pages are pinned.</summary>
    public int Pages { get; init; } = 4;

    /// <summary>
    /// The number of further pages that are made when delivery is behind: this many of those that it has not read yet stay in memory, but
    /// at most 8 while they are less than half full. It is from 0 to 1,024.
    /// </summary>
    public int PagesKept { get; init; } = 32;

    /// <summary>
    /// Bounds records that are larger than a page. A further one is taken while fewer bytes of them are on the way to disk, and this many
    /// bytes of durable ones that delivery has not read yet stay in memory. At most a quarter of <see cref="SegmentBytes"/> counts.
    /// </summary>
    public long SpanningBytes { get; init; } = 32L << 20;

    /// <summary>
    /// The distance of digest positions in log bytes (log-format L5.7); a multiple of 4,096, at least 1 MiB. A log keeps the distance of
    /// its first segment.
    /// </summary>
    public ulong DigestEvery { get; init; } = 1 << 20;

    /// <summary>
    /// So many bytes are kept zeroed ahead of the tail, since pages are written only into blocks that were written before. The window grows
    /// with the rate, up to eight times this size; recycled files need none. With 0, zeros are written when a group waits for them.
    /// </summary>
    public long ZeroWindowBytes { get; init; } = 8L << 20;

    /// <summary>
    /// So many bytes of a segment are set aside at once, ahead of the zeros; a multiple of 4,096. Every start of a coordinator begins a
    /// segment, so setting all of it aside would take its whole size for each start.
    /// </summary>
    public long AllocateStepBytes { get; init; } = 32L << 20;

    /// <summary>So many trimmed segments of the own epoch are kept to be written again; from 0 to 64.</summary>
    public int SparesMax { get; init; } = 4;

    /// <summary>Says whether pages bypass the page cache.</summary>
    public LogWriteMode WriteMode { get; init; }

    /// <summary>
    /// The length in bytes of the largest message (protocol P2.3) that the log takes, whatever its coordinator takes from others: the app
    /// may send itself what an earlier limit allowed. A record may be longer, see <see cref="RecordBytesMax"/>.
    /// </summary>
    public uint MessageBytesMax { get; init; } = 1 << 30;

    /// <summary>Run header, extension blocks and names around one message have at most so many bytes (protocol P2.3).</summary>
    public const int RecordOverheadMax = 65_536;

    /// <summary>
    /// The length in bytes of the largest record's body: what a frame may carry (protocol P2.3), since a run of small messages may be
    /// longer than one message.
    /// </summary>
    public long RecordBytesMax => Math.Max(MessageBytesMax, (long)Protocol.SizeLimits.BatchBytesMax) + RecordOverheadMax;

    /// <summary>Returns these options, or refuses them with an <see cref="ArgumentException"/> that names the rule.</summary>
    internal LogOptions Check()
    {
        Require(PageBytes is >= 2 * LogFormat.BlockBytes and <= 64 << 20 && PageBytes % LogFormat.BlockBytes == 0,
            "PageBytes is a multiple of 4,096 from 8,192 to 64 MiB", PageBytes);
        Require(SegmentBytes % LogFormat.BlockBytes == 0 && SegmentBytes >= LogFormat.SegmentHeaderBytes + PageBytes,
            "SegmentBytes is a multiple of 4,096 with room for a page", SegmentBytes);
        Require(PagesKept is >= 0 and <= 1_024, "PagesKept is from 0 to 1,024", PagesKept);
        Require(SpanningBytes >= 1, "SpanningBytes is at least 1", SpanningBytes);
        Require(Pages is >= 2 and <= 1_024, "Pages is from 2 to 1,024", Pages);
        Require(DigestEvery >= 1 << 20 && DigestEvery % LogFormat.BlockBytes == 0, "DigestEvery is a multiple of 4,096, at least 1 MiB",
            (long)DigestEvery);
        Require((ulong)PageBytes <= DigestEvery,
            $"PageBytes is at most DigestEvery ({DigestEvery}), or one page would hold several digest positions", PageBytes);
        Require(AllocateStepBytes >= LogFormat.BlockBytes && AllocateStepBytes % LogFormat.BlockBytes == 0,
            "AllocateStepBytes is a multiple of 4,096", AllocateStepBytes);
        Require(ZeroWindowBytes >= 0, "ZeroWindowBytes is not negative", ZeroWindowBytes);
        Require(SparesMax is >= 0 and <= 64, "SparesMax is from 0 to 64", SparesMax);
        Require(MessageBytesMax is >= 1 and <= 1 << 30, "MessageBytesMax is from 1 to 1 GiB", MessageBytesMax);
        return this;
    }

    private static void Require(bool holds, string rule, long value)
    {
        if (!holds) throw new ArgumentException($"{rule}; {value} is not");
    }
}

/// <summary>Says how pages reach the device; each group is flushed in every mode (log-format L3, write mode).</summary>
public enum LogWriteMode
{
    /// <summary>Pages bypass the page cache where the file system supports that, and go through it elsewhere.</summary>
    Auto,

    /// <summary>Pages bypass the page cache; a file system that does not support that is refused.</summary>
    Direct,

    /// <summary>Pages go through the page cache.</summary>
    Buffered,
}
