using Ambrosia.Inspection.Records;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Verification;

/// <summary>
/// Reads the log from its oldest page to its end with every check of the format, and goes on behind damage. It opens every record and
/// message, and compares what checkpoints state about the page before theirs.
/// </summary>
internal sealed class HistoryCheck(LogDirectory log, IReadOnlyList<CheckpointVerdict> checkpoints)
{
    private const int ViolationsMax = 1_000;
    private const uint MessageBytesMax = 1 << 30; // the hard limit; the coordinator's own limit is not in the log

    private readonly List<UnreadableRange> _unreadable = [];
    private readonly List<FormatViolation> _violations = [];
    private readonly SortedDictionary<string, long> _kinds = new(StringComparer.Ordinal);
    private readonly SequenceNumberCheck _numbers = new();
    private readonly RecordAssembler _records = new();

    public IReadOnlyList<UnreadableRange> Unreadable => _unreadable;

    /// <summary>At most <see cref="ViolationsMax"/> of the violations; <see cref="ViolationCount"/> counts all.</summary>
    public IReadOnlyList<FormatViolation> Violations => _violations;

    public long ViolationCount { get; private set; }

    /// <summary>The numbers of records by kind, in the words of 'ambrosia log'.</summary>
    public IReadOnlyDictionary<string, long> Kinds => _kinds;

    public long Messages => _numbers.Messages;
    public long Pages { get; private set; }
    public long Bytes { get; private set; }

    /// <summary>The oldest position that is kept, or null where there is no log.</summary>
    public Lsn? From { get; private set; }

    /// <summary>The verdict on how reading ended, or null where the disk could not be read.</summary>
    public ReadVerdict? Verdict { get; private set; }

    /// <summary>Reads the log.</summary>
    /// <param name="done">Gets the bytes of log read so far.</param>
    public void Run(Action<long> done)
    {
        do Scan(done);
        while (Verdict is ReadVerdict.Truncated); // a live log was truncated under the reader: begin again at the oldest page that is kept
    }

    private void Scan(Action<long> done)
    {
        try
        {
            using LogScan scan = LogScan.Open(log.Files, log.Path, log.Identity,
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
            _unreadable.Add(
                new UnreadableRange(From?.Value ?? 0, From?.Value ?? 0, 0,
                    new DamageReport.Details(null, null, null, "a disk that can be read", unreadable.Message)));
        }
    }

    /// <summary>Forgets what an earlier attempt has seen, which lies below the place at which reading begins now.</summary>
    private void Begin(bool isStart)
    {
        _numbers.Restart(isStart);
        _kinds.Clear();
        _unreadable.Clear();
        _violations.Clear();
        ViolationCount = Pages = Bytes = 0;
    }

    private void Note(LogScan scan, ref int lost)
    {
        for (; lost < scan.Lost.Count; lost++)
        {
            LogScan.LostRange stretch = scan.Lost[lost];
            _unreadable.Add(new UnreadableRange(stretch.From.Value, stretch.To.Value, stretch.Bytes, DamageReport.Of(stretch.Why).Damage));
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
                    $"{checkpoint.File} states {TextFormat.Hash(header.PreviousHash)} as the hash before this page, which states {TextFormat.Hash(page.PreviousHash)}");
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
        string name = LogEntry.NameOf(kind);
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
        ViolationCount++;
        if (_violations.Count < ViolationsMax) _violations.Add(new FormatViolation(lsn.Value, what));
    }
}

/// <summary>
/// Checks the numbers of runs along the log. They are 1, 2, 3, … for each origin without gaps (log-format L5.2, I1), and those of impulses
/// never repeat in an epoch of their sender. Where reading began in the middle, or jumped over damage, the next number of each origin is
/// taken as it is.
/// </summary>
internal sealed class SequenceNumberCheck
{
    private readonly Dictionary<uint, ulong> _last = [];
    private readonly Dictionary<(uint Origin, ulong Epoch), ulong> _impulses = [];
    private bool _isFromStart;

    /// <summary>The number of messages seen.</summary>
    public long Messages { get; private set; }

    /// <summary>Begins at the oldest page of the log, perhaps not for the first time.</summary>
    public void Restart(bool isStart)
    {
        Begin(isStart);
        Messages = 0;
    }

    /// <summary>Goes on at a place before which something is not known.</summary>
    /// <param name="isStart">True at the log's beginning, where everything is known.</param>
    public void Begin(bool isStart)
    {
        _last.Clear();
        _impulses.Clear();
        _isFromStart = isStart;
    }

    /// <summary>Checks the numbers of a run.</summary>
    /// <returns>What is wrong, or null.</returns>
    public string? Take(RunHeader run)
    {
        Messages += run.Count;
        return run.Kind == MessageKind.Impulse ? TakeImpulses(run) : TakeNumbered(run);
    }

    private string? TakeNumbered(RunHeader run)
    {
        bool isKnown = _last.TryGetValue(run.Peer, out ulong last);
        _last[run.Peer] = run.Last;
        if (!isKnown && !_isFromStart) return null;
        return run.First == last + 1 ? null : $"a run of origin {run.Peer} begins at number {run.First}, and {last + 1} comes next (L5.2)";
    }

    private string? TakeImpulses(RunHeader run)
    {
        _impulses.TryGetValue((run.Peer, run.Hash), out ulong last);
        _impulses[(run.Peer, run.Hash)] = Math.Max(last, run.Last);
        return run.First > last ? null
            : $"impulses of origin {run.Peer} in its epoch {run.Hash} begin at number {run.First}, and {last} was there already (L5.3)";
    }
}

/// <summary>It names a stretch of log that cannot be read, and why.</summary>
/// <param name="From">The Lsn at which it begins.</param>
/// <param name="To">The Lsn where reading goes on. It equals <paramref name="From"/> where nothing behind it can be read, or where only a
/// statement is wrong.</param>
/// <param name="Bytes">The bytes of log in it, headers and padding included.</param>
internal sealed record UnreadableRange(ulong From, ulong To, long Bytes, DamageReport.Details Why);

/// <summary>A record in a sound page whose content breaks the format: it was written so, and not damaged since.</summary>
internal sealed record FormatViolation(ulong Lsn, string What);
