using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>What a delivered page will change once the app has executed it.</summary>
/// <param name="End">End of its last record.</param>
/// <param name="SelfNumber">Calls to oneself that the log holds up to there.</param>
/// <param name="Trims">Outputs that its Trim records say are durable at their peers.</param>
internal readonly record struct PageNote(Lsn PageLsn, Lsn End, ulong SelfNumber, IReadOnlyList<OutboxTrim> Trims);

/// <summary>Outputs up to a number are durable at their receiver; it stands for nothing once that was forgotten.</summary>
internal readonly record struct OutboxTrim(Outbox Outbox, int Generation, ulong Number);

/// <summary>
/// The log forgets a receiver: what the app emits behind its report of this place is for whoever has the name next (log-format L5.14).
/// </summary>
/// <param name="At">End of the record.</param>
internal readonly record struct OutboxCut(Lsn At, Outbox Outbox);

/// <summary>
/// What has been delivered and not yet executed: one note a page, and the marks at which the app must report. Written by delivery, read
/// by the thread that reads the app. Bounded by what socket buffers hold.
/// </summary>
internal sealed class ProgressBook
{
    private readonly Lock gate = new();
    private readonly Queue<PageNote> notes = new();
    private readonly Queue<Lsn> marks = new();
    private readonly Queue<OutboxCut> cuts = new();
    private Lsn processed;

    /// <summary>End of the last record that has been delivered. Processed ≤ delivered.</summary>
    private Lsn delivered;

    /// <summary>The page where reading would go on for a checkpoint at <see cref="Processed"/>.</summary>
    private Lsn processedPage;

    /// <summary>Every record below this has been executed by the running session.</summary>
    public Lsn Processed { get { lock (gate) return processed; } }

    /// <summary>End of the last record that the running session was given.</summary>
    public Lsn DeliveredTo { get { lock (gate) return delivered; } }

    /// <summary>Everything that has been delivered has been executed.</summary>
    public bool IsDry { get { lock (gate) return processed >= delivered; } }

    public Lsn ProcessedPage { get { lock (gate) return processedPage; } }

    public void Begin(Lsn from, Lsn page)
    {
        lock (gate)
        {
            notes.Clear();
            marks.Clear();
            cuts.Clear();
            processed = delivered = from;
            processedPage = page;
        }
    }

    public void Delivered(in PageNote note, Lsn? mark, IReadOnlyList<OutboxCut> cutsInside)
    {
        lock (gate)
        {
            notes.Enqueue(note);
            delivered = note.End;
            if (mark is { } lsn) marks.Enqueue(lsn);
            foreach (OutboxCut cut in cutsInside) cuts.Enqueue(cut);
        }
    }

    /// <summary>The cut at exactly this place, which the app has reported just now; null: none is there. It is given once.</summary>
    public Outbox? TakeCut(Lsn lsn)
    {
        lock (gate) return cuts.TryPeek(out OutboxCut cut) && cut.At == lsn ? cuts.Dequeue().Outbox : null;
    }

    /// <summary>
    /// The app has executed everything below <paramref name="lsn"/>; notes of whole pages go to <paramref name="done"/>. True: it is the
    /// mark that was asked for.
    /// </summary>
    /// <exception cref="ProtocolViolation">P5.6: a report that goes back, passes over a mark, or is of what was not delivered.</exception>
    public bool Report(Lsn lsn, List<PageNote> done)
    {
        lock (gate)
        {
            if (lsn < processed) throw new ProtocolViolation("P5.6", $"the app reports {lsn} after {processed}");
            if (lsn > delivered) throw new ProtocolViolation("P5.6", $"the app reports {lsn}, it was given the log up to {delivered}");
            bool isMark = marks.TryPeek(out Lsn mark) && mark == lsn;
            if (isMark) marks.Dequeue();
            else if (marks.Count > 0 && mark < lsn)
                throw new ProtocolViolation("P5.6", $"the app reports {lsn} and passes over the mark {mark}");
            if (cuts.TryPeek(out OutboxCut cut) && cut.At < lsn)
                throw new ProtocolViolation("P5.6", $"the app reports {lsn} and passes over {cut.At}, where a peer is forgotten");
            processed = lsn;
            while (notes.TryPeek(out PageNote note) && note.PageLsn <= lsn)
            {
                processedPage = note.PageLsn;
                if (note.End > lsn) break;
                done.Add(notes.Dequeue());
            }
            return isMark;
        }
    }
}
