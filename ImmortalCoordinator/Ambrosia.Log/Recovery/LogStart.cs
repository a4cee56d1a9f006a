using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
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
        while (true)
        {
            try
            {
                chain = Check(location);
                return ReadTail(location, chain);
            }
            catch (FileNotFoundException)
            {
                // A live log has gone on, and what was its head is truncated.
            }
            catch (LogDamage damage) when (damage.Message != before?.Message)
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
    public static string WhatIsWrong(CheckpointHeader header, LogChain chain)
    {
        if (!chain.TryFind(header.PageLsn, out _, out _)) return $"the log behind it, from {header.PageLsn} on, is not there any more";
        uint version = chain.VersionAt(header.Lsn);
        return header.AppVersion > version
            ? $"it is of app version {header.AppVersion}, the log there of {version}: an upgrade that never happened" : "";
    }

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

    private static ReadVerdict ReadTail(LogLocation location, LogChain chain)
    {
        if (chain.Segments is not [.., var head]) return new ReadVerdict.CleanEnd(Lsn.Zero, Lsn.Zero);
        Epoch fence = Fence.Current(location.Files, location.Directory, location.Identity);
        if (head.Epoch > fence) throw OlderFence(head, fence);
        var buffer = new PageBuffer(BufferBytes);
        return new TailScan(location, head).Read(ref buffer);
    }
}
