using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Knows the right answer to any change of an image's bytes from the bytes alone (log-format L8): which pages are still what was written,
/// and what they state. It shares no code with the reader.
/// </summary>
internal static class DamageOracle
{
    public enum Answer { Whole, Cut, Halt }

    /// <summary>Throws unless the reader's answer is the right one.</summary>
    /// <param name="from">Index of the page to begin with.</param>
    public static Answer Check(ImageReader reader, int from = 0)
    {
        (int pages, ReadVerdict verdict) = reader.Read(from);
        return Judge(reader.Image, reader.Now, pages, verdict);
    }

    public static Answer Judge(SegmentImage image, ReadOnlySpan<byte> now, int pages, ReadVerdict verdict)
    {
        int damaged = 0;
        while (damaged < image.Pages.Count && IsIntact(image, now, damaged)) damaged++;
        Require(pages == damaged, $"{pages} pages were given, {damaged} stand there");
        Lsn at = damaged == image.Pages.Count ? image.End : image.Pages[damaged].Lsn;
        Lsn stated = default;
        for (int i = damaged + 1; i < image.Pages.Count; i++)
            if (image.Pages[i].DurableUpTo > stated && IsIntact(image, now, i)) stated = image.Pages[i].DurableUpTo;
        if (now.Length != image.Segment.Header.FileBytes)
        {
            Require(
                verdict is ReadVerdict.Halt cut && cut.At == at && cut.Damage.File == image.Segment.Path
                    && cut.Damage.Expected.Contains($"a file of {image.Segment.Header.FileBytes} bytes")
                    && cut.Damage.Found == $"one of {now.Length} bytes", $"{verdict} at {at} of a file of {now.Length} bytes");
            return Answer.Halt;
        }
        if (stated > at)
        {
            var halt = verdict as ReadVerdict.Halt;
            Require(halt is not null, $"{verdict}, although {stated} is stated behind the damage at {at}");
            Require(
                halt!.At == at && halt.Damage.Lsn == at && halt.Damage.File == image.Segment.Path && halt.Damage.Offset == image.Offset(at),
                $"{verdict} is not at {at}");
            return Answer.Halt;
        }
        Lsn end = damaged == image.Pages.Count ? at : image.Pages[image.FirstOf(damaged)].Lsn;
        Require(verdict is not ReadVerdict.Halt, $"{verdict}, although nothing states more than {stated}");
        Require(verdict.End == end, $"{verdict}, where the log ends at {end}");
        return JudgeEnd(image, now, damaged, end == at, verdict);
    }

    /// <summary>The answer is silent where nothing says that something was written, and loud everywhere else.</summary>
    private static Answer JudgeEnd(SegmentImage image, ReadOnlySpan<byte> now, int damaged, bool isBetweenRecords, ReadVerdict verdict)
    {
        int x = Math.Min(image.Offset(verdict.End), now.Length);
        bool isNothing = image.Segment.Header.IsRecycled
            ? (!now[x..Math.Min(x + 4_096, now.Length)].ContainsAnyExcept((byte)0) || IsStalePage(image, now, x))
                && !HasHeader(image, now, damaged)
            : !now[x..].ContainsAnyExcept((byte)0);
        if (verdict is ReadVerdict.TornTail cut)
        {
            Require(cut.File == image.Segment.Path && cut.Offset == image.Offset(cut.End) && cut.Reason.Length > 0, $"{cut}");
            Require(cut.Bytes > 0 && cut.Offset + cut.Bytes <= Math.Max(now.Length, image.EndOffset), $"{cut}");
            Require(!isNothing || !isBetweenRecords, $"{cut}, where nothing was written");
            return Answer.Cut;
        }
        Require(verdict is ReadVerdict.CleanEnd && isNothing && isBetweenRecords, $"{verdict}, although something was written behind");
        return Answer.Whole;
    }

    private static bool IsIntact(SegmentImage image, ReadOnlySpan<byte> now, int page)
    {
        int from = image.Offset(image.Pages[page].Lsn), size = image.Pages[page].Footprint;
        return now.Length >= from + size && now.Slice(from, size).SequenceEqual(image.Bytes.AsSpan(from, size));
    }

    /// <summary>The header of a page from there on is what was written at its place.</summary>
    private static bool HasHeader(SegmentImage image, ReadOnlySpan<byte> now, int page)
    {
        for (; page < image.Pages.Count; page++)
        {
            int from = image.Offset(image.Pages[page].Lsn);
            if (now.Length >= from + PageHeader.Bytes
                && now.Slice(from, PageHeader.Bytes).SequenceEqual(image.Bytes.AsSpan(from, PageHeader.Bytes))) return true;
        }
        return false;
    }

    private static bool IsStalePage(SegmentImage image, ReadOnlySpan<byte> now, int at) =>
        at + PageHeader.Bytes <= now.Length && now[at..].StartsWith("APG1"u8)
        && now.Slice(at, PageHeader.Bytes).SequenceEqual(image.Stale.AsSpan(at, PageHeader.Bytes));

    private static void Require(bool holds, string why)
    {
        if (!holds) throw new AcceptedLie(why);
    }
}
