using System.Text.Json;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// Reads the log from its oldest page to its end with every check of the format, behind damage too; opens every record and message;
/// compares what checkpoints state about the page before theirs.
/// </summary>
internal sealed class HistoryCheck(LogPlace place, IReadOnlyList<CheckpointVerdict> checkpoints)
{
    private const int OdditiesMax = 1_000;
    private const uint MessageBytesMax = 1 << 30; // the hard limit; which one a coordinator had is not in the log

    private readonly List<Loss> _losses = [];
    private readonly List<Oddity> _oddities = [];
    private readonly SortedDictionary<string, long> _kinds = new(StringComparer.Ordinal);
    private readonly NumberCheck _numbers = new();
    private readonly RecordAssembly _records = new();

    public IReadOnlyList<Loss> Losses => _losses;

    /// <summary>At most <see cref="OdditiesMax"/>; all are counted.</summary>
    public IReadOnlyList<Oddity> Oddities => _oddities;

    public long OddityCount { get; private set; }

    /// <summary>Records by kind, in the words of 'ambrosia log'.</summary>
    public IReadOnlyDictionary<string, long> Kinds => _kinds;

    public long Messages => _numbers.Messages;
    public long Pages { get; private set; }
    public long Bytes { get; private set; }

    /// <summary>The oldest position kept; null: there is no log.</summary>
    public Lsn? From { get; private set; }

    /// <summary>Null: the disk could not be read.</summary>
    public ReadVerdict? Verdict { get; private set; }

    /// <param name="done">Gets the bytes of log read so far.</param>
    public void Run(Action<long> done)
    {
        do Scan(done);
        while (Verdict is ReadVerdict.Gone); // truncated under a live log's reader: from the oldest page kept once more
    }

    private void Scan(Action<long> done)
    {
        try
        {
            using LogScan scan = LogScan.Open(place.Files, place.Directory, place.Identity,
                new ScanOptions { GoesOn = true, EndsWithHead = true });
            From = scan.Chain.Segments.IsEmpty ? null : scan.From;
            Begin(isStart: scan.From == Lsn.Zero);
            int lost = 0;
            while (scan.Next())
            {
                Note(scan, ref lost);
                Take(scan.Page);
                done(scan.Position - scan.From);
            }
            Note(scan, ref lost);
            Verdict = scan.Verdict;
        }
        catch (IOException unreadable)
        {
            Verdict = null;
            _losses.Add(
                new Loss(From?.Value ?? 0, From?.Value ?? 0, 0,
                    new DamageReport.Place(null, null, null, "a disk that can be read", unreadable.Message)));
        }
    }

    /// <summary>What an earlier attempt has seen stands below the place from which reading begins now.</summary>
    private void Begin(bool isStart)
    {
        _numbers.Restart(isStart);
        _kinds.Clear();
        _losses.Clear();
        _oddities.Clear();
        OddityCount = Pages = Bytes = 0;
    }

    private void Note(LogScan scan, ref int lost)
    {
        for (; lost < scan.Lost.Count; lost++)
        {
            LostStretch stretch = scan.Lost[lost];
            _losses.Add(new Loss(stretch.From.Value, stretch.To.Value, stretch.Bytes, DamageReport.Of(stretch.Why).Damage));
            _numbers.Begin(isStart: false);
        }
    }

    private void Take(PageBuffer page)
    {
        Pages++;
        Bytes += page.Header.Footprint;
        foreach (CheckpointVerdict checkpoint in checkpoints)
            if (checkpoint.Header is { } header && header.PageLsn == page.Lsn && header.PreviousHash != page.PreviousHash)
                Add(page.Lsn,
                    $"{checkpoint.File} states {Wording.Hash(header.PreviousHash)} as the hash before this page, which states {Wording.Hash(page.PreviousHash)}");
        try
        {
            _records.Take(page, TakeRecord);
        }
        catch (ProtocolViolation violation)
        {
            Add(violation.Lsn ?? page.Lsn, violation.Message);
        }
    }

    private bool TakeRecord(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch)
    {
        string name = JsonNamingPolicy.CamelCase.ConvertName(kind.ToString());
        _kinds[name] = _kinds.GetValueOrDefault(name) + 1;
        try
        {
            if (kind is not (RecordKind.Run or RecordKind.ImpulseRun)) RecordFields.Check(kind, body);
            else if (_numbers.Take(RunView.ReadWhole(body, MessageBytesMax).Header) is { } wrong) Add(lsn, wrong);
        }
        catch (ProtocolViolation violation)
        {
            Add(lsn, violation.Message);
        }
        return true;
    }

    private void Add(Lsn lsn, string what)
    {
        OddityCount++;
        if (_oddities.Count < OdditiesMax) _oddities.Add(new Oddity(lsn.Value, what));
    }
}
