using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// The lines of 'ambrosia log --pages' and '--records': streamed from the log, or the last few of them kept until its end is reached.
/// </summary>
/// <param name="unusable">Headers of segments that are left out: told first, and the end is not known then.</param>
internal sealed class LogListing(LogPlace place, IReadOnlyList<LogDamage> unusable, EntryFilter filter, int? head, int? tail)
{
    private readonly OriginNames _names = new(place.Identity);
    private readonly LogWalk _walk = new(place);
    private readonly Queue<IReport> _last = new();
    private int _shown;

    public int Pages(Screen screen) => Run(screen, static () => 0, () => (page, segment) =>
    {
        if (filter.IsBehind(page.Lsn, page.TimeMicros)) return false;
        return !filter.Fits(page.Lsn, page.TimeMicros) || Emit(screen, PageEntry.Of(page, segment));
    });

    public int Records(Screen screen, MessageText text)
    {
        EntryReader reader = null!;
        return Run(screen, () => reader.Problems, () =>
        {
            reader = new EntryReader(_names, text, filter);
            var records = new RecordAssembly();
            return (page, _) => records.Take(page,
                (lsn, kind, body, time, epoch) => reader.Read(lsn, kind, body, time, epoch, entry => Emit(screen, entry)));
        });
    }

    private int Run(Screen screen, Func<long> problems, Func<LogWalk.PageTaker> taker)
    {
        foreach (LogDamage header in unusable) screen.Show(DamageReport.Of(header));
        LogChain chain = LogChain.Load(place.Files, place.Directory, place.Identity);
        Lsn wanted = filter.SinceMicros is { } since ? Max(filter.From, WalkStart.LsnOf(chain, since)) : filter.From;
        ReadVerdict? end = tail is { } count ? RunBackwards(screen, chain, wanted, count, taker) : Walk(screen, chain, wanted, taker);
        foreach (IReport line in _last) screen.Show(line);
        if (unusable.Count == 0 && end is ReadVerdict.Whole or ReadVerdict.Cut) screen.Show(EndReport.Of(end));
        return unusable.Count > 0 || _walk.HasDamage || problems() > 0 ? ToolExit.Damage : ToolExit.Fine;
    }

    /// <summary>
    /// The last lines stand at the end: one segment is read, then one, two, four … more in front until there are enough lines.
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
        _walk.Run(WalkStart.For(place, chain, from, _names), taker(), screen.Show);

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
