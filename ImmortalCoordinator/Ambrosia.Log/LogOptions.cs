namespace Ambrosia.Log;

/// <summary>Sizes of a log. The format (docs/log-format.md) bounds them; <see cref="Check"/> refuses the rest.</summary>
public sealed record LogOptions
{
    /// <summary>Bytes of a segment file, header included. A record that is larger alone makes its segment larger.</summary>
    public long SegmentBytes { get; init; } = 256L << 20;

    /// <summary>Bytes of the largest page with several records, header included: a multiple of 4,096.</summary>
    public int PageBytes { get; init; } = 1 << 20;

    /// <summary>Pages for writers and the committer, at least 2; two more are made when pages are pinned.</summary>
    public int Pages { get; init; } = 4;

    /// <summary>
    /// Further pages, made when delivery is behind: what it has not read yet stays in memory in so many; in 8 at most while they are not
    /// even half full. 0 to 1,024.
    /// </summary>
    public int PagesKept { get; init; } = 32;

    /// <summary>
    /// Bytes of records that are larger than a page: while less of them is on its way to disk a further one is taken; and as much, of
    /// durable ones that delivery has not read yet, stays in memory. A quarter of <see cref="SegmentBytes"/> at most counts.
    /// </summary>
    public long SpanningBytes { get; init; } = 32L << 20;

    /// <summary>
    /// Distance of digest positions in log bytes (log-format L5.7): a multiple of 4,096, at least 1 MiB. A log keeps
    /// that of its first segment.
    /// </summary>
    public ulong DigestEvery { get; init; } = 1 << 20;

    /// <summary>Version of the app that executes this log's records.</summary>
    public uint AppVersion { get; init; }

    /// <summary>
    /// Bytes kept zeroed ahead of the tail, since pages are written only into blocks that were written once already. The window grows with
    /// the rate, up to eight times as much; recycled files need none. 0: zeros come when a group waits for them.
    /// </summary>
    public long ZeroWindowBytes { get; init; } = 8L << 20;

    /// <summary>
    /// Bytes of a segment that are set aside at once, ahead of the zeros: a multiple of 4,096. Every start of a coordinator begins a
    /// segment, so one that sets all of it aside would take its whole size for each.
    /// </summary>
    public long AllocateStepBytes { get; init; } = 32L << 20;

    /// <summary>Trimmed segments of the own epoch that are kept to be written again; 0 to 64.</summary>
    public int SparesMax { get; init; } = 4;

    /// <summary>Past the page cache or through it.</summary>
    public LogWriteMode WriteMode { get; init; }

    /// <summary>
    /// Bytes of the largest message (protocol P2.3) that the log takes, whatever its coordinator takes from others: the app may send itself
    /// what an earlier limit allowed. A record may be longer, see <see cref="RecordBytesMax"/>.
    /// </summary>
    public uint MessageBytesMax { get; init; } = 1 << 30;

    /// <summary>Run header, extension blocks and names around one message, at most (protocol P2.3).</summary>
    public const int RecordOverheadMax = 65_536;

    /// <summary>
    /// Bytes of the largest record's body: what a frame may carry (protocol P2.3), since a run of small messages may be
    /// longer than one message.
    /// </summary>
    public long RecordBytesMax => Math.Max(MessageBytesMax, (long)Protocol.RunHeader.RunBytesMax) + RecordOverheadMax;

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
