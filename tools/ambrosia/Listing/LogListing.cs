using System.Globalization;
using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Records;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Listing;

/// <summary>
/// Lists the lines of 'ambrosia log --pages' and '--records'. They are streamed from the log; with --tail the last few are kept until the
/// end of the log is reached.
/// </summary>
/// <param name="unusable">The damaged headers of segments that are left out. They are shown first, and the end of the log is not known
/// then.</param>
internal sealed class LogListing(LogDirectory log, IReadOnlyList<LogDamage> unusable, EntryFilter filter, int? head, int? tail)
{
    private readonly OriginNames _names = new(log.Identity);
    private readonly LogWalk _walk = new(log);
    private readonly Queue<IReport> _last = new();
    private int _shown;

    /// <summary>Lists the pages.</summary>
    /// <returns>One of <see cref="ToolExit"/>.</returns>
    public int Pages(Screen screen) => Run(screen, static () => 0, () => (page, segment) =>
    {
        if (filter.IsBehind(page.Lsn, page.TimeMicros)) return false;
        return !filter.Fits(page.Lsn, page.TimeMicros) || Emit(screen, PageEntry.Of(page, segment));
    });

    /// <summary>Lists the messages and records.</summary>
    /// <returns>One of <see cref="ToolExit"/>.</returns>
    public int Records(Screen screen, MessageFormatter text)
    {
        EntryReader reader = null!;
        return Run(screen, () => reader.Problems, () =>
        {
            reader = new EntryReader(_names, text, filter);
            var records = new RecordAssembler();
            return (page, _) => records.Take(page,
                (lsn, kind, body, time, epoch) => reader.Read(lsn, kind, body, time, epoch, entry => Emit(screen, new EntryLine(entry))));
        });
    }

    private int Run(Screen screen, Func<long> problems, Func<LogWalk.PageTaker> taker)
    {
        foreach (LogDamage header in unusable) screen.Show(DamageReport.Of(header));
        LogChain chain = LogChain.Load(log.Files, log.Path, log.Identity, takesAnyLength: true);
        Lsn wanted = filter.SinceMicros is { } since ? Max(filter.From, WalkStart.LsnOf(chain, since)) : filter.From;
        ReadVerdict? end = tail is { } count ? RunBackwards(screen, chain, wanted, count, taker) : Walk(screen, chain, wanted, taker);
        foreach (IReport line in _last) screen.Show(line);
        if (unusable.Count == 0 && end is ReadVerdict.CleanEnd or ReadVerdict.TornTail) screen.Show(LogEndReport.Of(end));
        return unusable.Count > 0 || _walk.HasDamage || problems() > 0 ? ToolExit.Damage : ToolExit.Fine;
    }

    /// <summary>
    /// Finds the last lines, which stand at the end. It reads the last segment, then the last two, four, eight … until there are enough
    /// lines.
    /// </summary>
    private ReadVerdict? RunBackwards(Screen screen, LogChain chain, Lsn wanted, int count, Func<LogWalk.PageTaker> taker)
    {
        int segments = chain.Segments.Length;
        for (int back = 1; ; back *= 2)
        {
            Lsn from = back < segments ? Max(wanted, chain.Segments[segments - back].FirstLsn) : wanted;
            _last.Clear();
            ReadVerdict? end = Walk(screen, chain, from, taker);
            if (_last.Count >= count || from == wanted) return end;
        }
    }

    private ReadVerdict? Walk(Screen screen, LogChain chain, Lsn from, Func<LogWalk.PageTaker> taker) =>
        _walk.Run(WalkStart.For(log.Location, chain, from, _names), taker(), screen.Show);

    private bool Emit(Screen screen, IReport line)
    {
        Keep(screen, line);
        return tail is not null || head is null || ++_shown < head;
    }

    private void Keep(Screen screen, IReport line)
    {
        if (tail is null)
        {
            screen.Show(line);
            return;
        }
        if (_last.Count == tail) _last.Dequeue();
        _last.Enqueue(line);
    }

    private static Lsn Max(Lsn a, Lsn b) => a > b ? a : b;
}

/// <summary>It is one line of 'ambrosia log --records'.</summary>
internal sealed record EntryLine(LogEntry Entry) : IReport
{
    object IReport.Content => Entry;

    public void Draw(Screen screen) =>
        screen.Line(Entry.ToString(), Entry.Problem is not null || Entry.Failure is not null ? Tone.Warning : Tone.Plain);
}

/// <summary>It is one line of 'ambrosia log --pages'.</summary>
/// <param name="Offset">The place in the file in bytes.</param>
/// <param name="Bytes">The bytes of header and records, without padding.</param>
/// <param name="Kind">"records", "mark", or "begins" or "continues" for a page of a spanning record.</param>
/// <param name="Remaining">The bytes of the spanning record that follow in later pages.</param>
internal sealed record PageEntry(
    ulong Lsn, string Time, ulong Epoch, string File, long Offset, int Bytes, string Kind, int Records, ulong DurableUpTo, uint Remaining,
    string Hash, string PreviousHash) : IReport
{
    public static PageEntry Of(PageBuffer page, LogSegment segment)
    {
        string kind = page.Flags switch
        {
            PageFlags.DurableMark => "mark",
            PageFlags.BeginsSpanning => "begins",
            PageFlags.ContinuesSpanning => "continues",
            _ => "records",
        };
        return new PageEntry(
            page.Lsn.Value, TextFormat.Time(page.TimeMicros), page.Header.Epoch.Value, segment.Name.ToString(),
            segment.Header.OffsetOf(page.Lsn), page.Length, kind,
            page.Flags == PageFlags.None ? Count(page) : 0, page.DurableUpTo.Value, page.Remaining, TextFormat.Hash(page.Hash),
            TextFormat.Hash(page.PreviousHash));
    }

    public void Draw(Screen screen) => screen.Line(string.Create(
        CultureInfo.InvariantCulture,
        $"{Lsn,12}  {Time}  {File,-10} byte {Offset,-10}  {Bytes,8} bytes  {Kind,-9}  {Records,6} records  durable up to {DurableUpTo,-12}  {Hash}{(Remaining > 0 ? $"  {Remaining} bytes to come" : "")}"));

    private static int Count(PageBuffer page)
    {
        int count = 0;
        new RecordAssembler().Take(page, (_, _, _, _, _) => ++count > 0);
        return count;
    }
}
