using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Replay;

/// <summary>Notes what a delivered page will change once the app has executed it.</summary>
/// <param name="First">Its first record that is delivered.</param>
/// <param name="End">End of its last record.</param>
/// <param name="Self">Inputs from oneself that the log holds up to there.</param>
/// <param name="Trims">Outputs that its Trim records say are durable at their peers.</param>
internal readonly record struct DeliveredPage(
    Lsn PageLsn, Lsn First, Lsn End, InputPosition Self, IReadOnlyList<OutboxTrim> Trims)
{
    /// <summary>The app must report at its digest position, and nowhere else in it; null: it has none.</summary>
    public Lsn? Mark { get; init; }
}

/// <summary>Outputs up to a number are durable at their receiver; it stands for nothing once that was forgotten.</summary>
internal readonly record struct OutboxTrim(Outbox Outbox, int Generation, ulong Number);

/// <summary>
/// The log forgets a receiver: what the app emits behind its report of this place is for whoever has the name next (log-format L5.14).
/// </summary>
/// <param name="At">End of the record.</param>
internal readonly record struct OutboxCut(Lsn At, Outbox Outbox);

/// <summary>Where the app stands: everything below is executed.</summary>
/// <param name="Index">The message in the record that it executes; null: it has not said it.</param>
internal readonly record struct ExecutingPlace(Lsn At, uint? Index)
{
    public override string ToString() => Index is { } index ? new MessagePlace(At, index).ToString() : At.ToString();
}

/// <summary>
/// What has been delivered and not yet executed: one note a page, and the marks at which the app must report. Written by delivery, read
/// by the thread that reads the app. Bounded by what socket buffers hold.
/// </summary>
internal sealed class DeliveryTracker
{
    private readonly RankedLock _gate = new(LockRank.DeliveryTracker);
    private readonly Queue<DeliveredPage> _notes = new();
    private readonly Queue<Lsn> _marks = new();
    private readonly Queue<OutboxCut> _cuts = new();
    private Lsn _processed;

    /// <summary>The app has said that it executes this message, at some time; null: it has said nothing in this session.</summary>
    private MessagePlace? _executing;

    /// <summary>End of the last record that has been delivered. Processed ≤ delivered.</summary>
    private Lsn _delivered;

    /// <summary>The app must report here, as it must at a mark; null: it has, or nothing was asked.</summary>
    private Lsn? _awaited;

    /// <summary>The page where reading would go on for a checkpoint at <see cref="Processed"/>.</summary>
    private Lsn _processedPage;

    /// <summary>Every record below this has been executed by the running session.</summary>
    public Lsn Processed { get { using (_gate.Enter()) return _processed; } }

    /// <summary>The place that the app is executing, reported or not, as far as it is known.</summary>
    public ExecutingPlace Executing
    {
        get
        {
            using (_gate.Enter())
                return _executing is { } said && said.Record >= _processed ? new ExecutingPlace(said.Record, said.Index)
                    : new ExecutingPlace(_processed, null);
        }
    }

    /// <summary>End of the last record that the running session was given.</summary>
    public Lsn DeliveredTo { get { using (_gate.Enter()) return _delivered; } }

    /// <summary>Everything that has been delivered has been executed.</summary>
    public bool IsDry => Dry is not null;

    /// <summary>The same, and up to where; null: the app has something to execute.</summary>
    public Lsn? Dry { get { using (_gate.Enter()) return _processed >= _delivered ? _processed : null; } }

    public Lsn ProcessedPage { get { using (_gate.Enter()) return _processedPage; } }

    /// <summary>
    /// The app has reported last where each session that comes by can be asked to report: at the mark of a page, or at the end of one
    /// that has none. The thread that reports.
    /// </summary>
    public bool IsAtBoundary { get; private set; }

    /// <param name="awaited">The app is to report here, too; null: nowhere.</param>
    public void Begin(Lsn from, Lsn page, Lsn? awaited = null)
    {
        using (_gate.Enter())
        {
            (_awaited, IsAtBoundary) = (awaited, false);
            _notes.Clear();
            _marks.Clear();
            _cuts.Clear();
            _processed = _delivered = from;
            _executing = null;
            _processedPage = page;
        }
    }

    /// <summary>Notes a page that is about to be given to the app; returns where the app is to report in it, or null.</summary>
    public Lsn? Delivered(in DeliveredPage note, IReadOnlyList<OutboxCut> cutsInside)
    {
        using (_gate.Enter())
        {
            _notes.Enqueue(note);
            _delivered = note.End;
            if (note.Mark is { } lsn) _marks.Enqueue(lsn);
            foreach (OutboxCut cut in cutsInside) _cuts.Enqueue(cut);
            if (_awaited is not { } awaited || awaited < note.First || awaited > note.End) return note.Mark;
            if (note.Mark is { } other && other != awaited) _awaited = null; // a frame has one mark, and the page had none before
            return note.Mark ?? awaited;
        }
    }

    /// <summary>The app says which message it executes.</summary>
    /// <exception cref="ProtocolViolation">P5.20: it was not given that record.</exception>
    public void Executes(MessagePlace place)
    {
        using (_gate.Enter())
        {
            if (place.Record > _delivered)
                throw new ProtocolViolation("P5.20", $"the app executes {place.Record}, it was given the log up to {_delivered}");
            if (_executing is not { } said || place.CompareTo(said) > 0) _executing = place;
        }
    }

    /// <summary>The cut at exactly this place, which the app has reported just now; null: none is there. It is given once.</summary>
    public Outbox? TakeCut(Lsn lsn)
    {
        using (_gate.Enter()) return _cuts.TryPeek(out OutboxCut cut) && cut.At == lsn ? _cuts.Dequeue().Outbox : null;
    }

    /// <summary>
    /// The app has executed everything below <paramref name="lsn"/>; notes of whole pages go to <paramref name="done"/>. True: it is the
    /// mark that was asked for.
    /// </summary>
    /// <exception cref="ProtocolViolation">P5.6: a report that goes back, passes over a mark, or is of what was not delivered.</exception>
    public bool Report(Lsn lsn, List<DeliveredPage> done)
    {
        using (_gate.Enter())
        {
            if (lsn < _processed) throw new ProtocolViolation("P5.6", $"the app reports {lsn} after {_processed}");
            if (lsn > _delivered) throw new ProtocolViolation("P5.6", $"the app reports {lsn}, it was given the log up to {_delivered}");
            bool isMark = _marks.TryPeek(out Lsn mark) && mark == lsn;
            if (isMark) _marks.Dequeue();
            else if (_marks.Count > 0 && mark < lsn)
                throw new ProtocolViolation("P5.6", $"the app reports {lsn} and passes over the mark {mark}");
            if (_cuts.TryPeek(out OutboxCut cut) && cut.At < lsn)
                throw new ProtocolViolation("P5.6", $"the app reports {lsn} and passes over {cut.At}, where a peer is forgotten");
            if (_awaited is { } awaited && awaited <= lsn)
            {
                if (awaited < lsn) throw new ProtocolViolation("P5.6", $"the app reports {lsn} and passes over the mark {awaited}");
                _awaited = null;
            }
            _processed = lsn;
            IsAtBoundary = isMark;
            while (_notes.TryPeek(out DeliveredPage note) && note.PageLsn <= lsn)
            {
                _processedPage = note.PageLsn;
                if (note.End > lsn) break;
                IsAtBoundary |= note.End == lsn && note.Mark is null;
                done.Add(_notes.Dequeue());
            }
            return isMark;
        }
    }
}
