using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Retention;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Recovery;

/// <summary>
/// Judges whether a coordinator can start on a directory. A coordinator asks before it claims and again, as a part of its take-over, before
/// it writes; 'ambrosia verify' asks the same. It only reads. Any thread.
/// </summary>
public static class LogStart
{
    private const int BufferBytes = 64 << 10;

    /// <summary>A live log may go on between two looks at its files, but not this often.</summary>
    private const int LooksMax = 8;

    /// <summary>Loads the chain, and checks that nothing is missing of which directory or catalog tell. A log may be live.</summary>
    /// <param name="published">The epoch that the catalog has of this instance; null when it has none.</param>
    /// <exception cref="LogDamage">Something is missing, or a header is damaged: exit 65.</exception>
    public static LogChain Check(LogLocation location, Epoch? published = null)
    {
        var told = ToldSegment.Newest(location, published); // first, since a live log may go on before the chain is read
        LogChain chain = LogChain.Load(location);
        Check(location, chain, told);
        return chain;
    }

    /// <summary>Reads the log's tail as a take-over does, and says how the log ends. A log may be live.</summary>
    /// <param name="chain">The chain whose tail was read.</param>
    /// <exception cref="LogDamage">A take-over would halt here: exit 65.</exception>
    public static ReadVerdict Judge(LogLocation location, out LogChain chain)
    {
        LogDamage? before = null;
        for (int looks = 1; ; looks++)
        {
            try
            {
                ToldEnd? told = ToldEnd.Newest(location); // first, since a live log goes on
                chain = Check(location);
                return ReadTail(location, chain, told);
            }
            catch (FileNotFoundException) when (looks < LooksMax)
            {
                // A live log has gone on, and what was its head is truncated.
            }
            catch (LogDamage damage) when (looks < LooksMax && damage.Message != before?.Message)
            {
                before = damage; // a live log may have gone on between the looks at its files; damage stays where it is
            }
        }
    }

    /// <summary>
    /// Returns the gap in front of a chain: a segment that its oldest header names is not there, although older ones are. A truncation
    /// removes the oldest first and leaves none.
    /// </summary>
    public static LogGap? FindGap(LogLocation location, LogChain chain)
    {
        if (chain.Segments is not [var oldest, ..] || oldest.Header.PredecessorNumber == 0) return null;
        string missing = new SegmentFileName(oldest.Header.PredecessorNumber, oldest.Header.PredecessorEpoch).ToString();
        string[] before = [
            .. location.List().Where(name =>
                SegmentFileName.TryParse(name) is { } segment && segment.Number < oldest.Header.Number && segment.Epoch <= oldest.Epoch)];
        return before.Length == 0 || before.Contains(missing) ? null : new LogGap(missing, before, oldest.FirstLsn);
    }

    /// <summary>Says why no session can begin from a checkpoint of this log; empty when one can.</summary>
    public static string WhatIsWrong(LogLocation location, CheckpointHeader header, LogChain chain) =>
        chain.TryFind(header.PageLsn, out _, out _) ? CheckpointVersion.WhatIsWrong(location, header, chain)
        : $"the log behind it, from {header.PageLsn} on, is not there any more";

    /// <summary>Checks a chain that was loaded after a claim: nobody else makes what is told of.</summary>
    internal static void Check(LogLocation location, LogChain chain) =>
        Check(location, chain, ToldSegment.Newest(location, published: null));

    /// <summary>Makes the damage of a log whose head is newer than its fence.</summary>
    /// <param name="epochMax">The head may have this epoch at most.</param>
    internal static LogDamage OlderFence(LogSegment head, Epoch epochMax) =>
        new(head.Path, 40, head.FirstLsn, $"an epoch up to {epochMax}, which the fence says",
            $"{head.Epoch}: the fence is older than the log");

    private static void Check(LogLocation location, LogChain chain, ToldSegment? told)
    {
        if (chain.Segments.IsEmpty && CheckpointDirectory.List(location.Files, location.Directory) is [var checkpoint, ..])
            throw new LogDamage(location.PathOf(checkpoint.ToString()), 0, checkpoint.Lsn, "the log below this checkpoint", "no log");
        told?.Check(location, chain);
    }

    private static ReadVerdict ReadTail(LogLocation location, LogChain chain, ToldEnd? told)
    {
        if (chain.Segments is not [.., var head]) return new ReadVerdict.CleanEnd(Lsn.Zero, Lsn.Zero);
        Epoch fence = Fence.Current(location.Files, location.Directory, location.Identity);
        if (head.Epoch > fence) throw OlderFence(head, fence);
        var buffer = new PageBuffer(BufferBytes);
        var scan = new TailScan(location, head);
        ReadVerdict verdict = scan.Read(ref buffer);
        told?.Check(head, scan.PagesEnd);
        return verdict;
    }
}

/// <summary>
/// Names the newest segment of which something beside the chain still tells (log-format L8.8). Whatever tells of a segment is made only
/// when that has its name durably, and the head of a chain is never truncated; so a log that ends before such a segment is short of it.
/// </summary>
/// <param name="Epoch">The epoch of the segment.</param>
/// <param name="Number">The number of the segment; 0 when only its epoch is told.</param>
/// <param name="By">The file that tells of it, or the catalog.</param>
internal sealed record ToldSegment(Epoch Epoch, ulong Number, string By)
{
    /// <summary>Returns the newest segment that is told of; null when nothing tells of any.</summary>
    /// <param name="published">The epoch that the catalog has of this instance; null when it has none.</param>
    public static ToldSegment? Newest(LogLocation location, Epoch? published)
    {
        ToldSegment? newest = published is { } epoch ? new ToldSegment(epoch, 0, "the entry in the catalog") : null;
        foreach (string name in location.List())
            if (Of(location, name) is { } told && (newest is null || told.IsNewerThan(newest))) newest = told;
        return newest;
    }

    /// <summary>Throws unless a chain reaches as far as is told.</summary>
    /// <exception cref="LogDamage">It ends before.</exception>
    public void Check(LogLocation location, LogChain chain)
    {
        LogSegment? head = chain.Segments is [.., var last] ? last : null;
        if (head is not null && (head.Epoch > Epoch || (head.Epoch == Epoch && head.Header.Number >= Number))) return;
        string missing = Number == 0 ? $"log.*.{Epoch}" : new SegmentFileName(Number, Epoch).ToString();
        throw new LogDamage(location.PathOf(missing), 0, null, $"a segment of epoch {Epoch}, of which {By} tells",
            head is null ? "no segment" : $"a log that ends with {head.Name}");
    }

    private static ToldSegment? Of(LogLocation location, string name)
    {
        if (SpareFileName.TryParse(name) is { } spare) return new ToldSegment(spare.Epoch, 0, name);
        if (CheckpointFileName.Parse(name) is { } checkpoint) return new ToldSegment(checkpoint.Epoch, 0, name);
        return PrimaryFileName.TryParse(name) is { } primary
            && PrimaryLock.ReadSegment(location.Files, location.PathOf(name)) is { } number
            ? new ToldSegment(primary.Epoch, number, name) : null;
    }

    private bool IsNewerThan(ToldSegment other) => Epoch > other.Epoch || (Epoch == other.Epoch && Number > other.Number);
}
