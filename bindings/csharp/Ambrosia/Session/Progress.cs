// What the app has told its coordinator about its progress (protocol P5.6). Invariant: reported ≤ executed, except at a mark that lies
// between the last record executed and the next one, and inside a Forget record; neither falls.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class Progress(OutboundBuffer outbound, Lsn start)
{
    private const int BytesBetweenReportsMax = 1024 * 1024;

    private Lsn reported = start;
    private Lsn mark;
    private long bytesSinceReport;

    /// <summary>Every record below is executed.</summary>
    internal Lsn Executed { get; private set; } = start;

    internal void BeginFrame(DeliverHeader header)
    {
        if (header.First < Executed)
            throw new ProtocolViolation("P5.4", $"records from Lsn {header.First} where those below {Executed} are executed");
        Executed = header.First;
        mark = header.Mark;
        if (mark != Lsn.Zero && mark <= Executed) ReportMark();
    }

    internal void RecordDone(Lsn end)
    {
        bytesSinceReport += end - Executed;
        Executed = end;
        if (mark != Lsn.Zero && mark <= end) ReportMark();
        else if (bytesSinceReport >= BytesBetweenReportsMax) Report(end);
    }

    /// <summary>
    /// In the middle of a Forget record, which ends at <paramref name="end"/>: said at exactly this place, before anything that
    /// follows from the record.
    /// </summary>
    internal void Cut(Lsn end)
    {
        if (mark == end) mark = Lsn.Zero; // one report answers both
        Report(end);
    }

    internal void EndFrame()
    {
        if (mark != Lsn.Zero) ReportMark();
    }

    internal void Dry()
    {
        if (Executed > reported) Report(Executed);
    }

    /// <summary>An image said it (P5.7).</summary>
    internal void Implied() => (reported, bytesSinceReport) = (Lsn.Max(Executed, reported), 0);

    /// <summary>A mark is answered with exactly itself, even if more was reported before.</summary>
    private void ReportMark()
    {
        Lsn due = mark;
        mark = Lsn.Zero;
        Report(due);
    }

    private void Report(Lsn position)
    {
        outbound.Write(new ProcessedFrame(position));
        if (position > reported) reported = position;
        bytesSinceReport = 0;
    }
}
