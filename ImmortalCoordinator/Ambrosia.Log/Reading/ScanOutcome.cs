using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Keeps what a <see cref="LogScan"/> has found out about the log as a whole: what is lost, and in the end the verdict. The first damage
/// decides the verdict, however much can still be read behind it. One thread.
/// </summary>
internal sealed class ScanOutcome
{
    private readonly List<LogScan.LostRange> _lost = [];

    public ReadVerdict? Verdict { get; private set; }

    public IReadOnlyList<LogScan.LostRange> Lost => _lost;

    /// <summary>Adds a range that cannot be read.</summary>
    public void Lose(Lsn from, Lsn to, LogDamage why) => _lost.Add(new LogScan.LostRange(from, to, why));

    /// <summary>Ends the scan with this verdict, or with a halt at the first damage if there was any.</summary>
    /// <param name="stated">The highest position that what was read states as durable.</param>
    public void End(ReadVerdict verdict, Lsn stated) =>
        Verdict = _lost is [var first, ..] ? new ReadVerdict.Halt(first.From, first.Why, stated) : verdict;
}
