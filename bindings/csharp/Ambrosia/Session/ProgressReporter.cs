using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Outbound;

namespace Ambrosia.Session;

/// <summary>
/// Tells the coordinator how far this side has executed (protocol P5.6). Thread: the scheduler's. Invariant: reported ≤ executed, except at
/// a mark that lies between the last record executed and the next one, and inside a Forget record; neither falls.
/// </summary>
internal sealed class ProgressReporter(OutboundBuffer outbound, Lsn start)
{
    private const int BytesBetweenReportsMax = 1024 * 1024;

    private Lsn _reported = start;
    private Lsn _mark;
    private long _bytesSinceReport;

    /// <summary>The Lsn below which every record is executed.</summary>
    internal Lsn Executed { get; private set; } = start;

    /// <summary>True if no report has said so much as is executed. Any thread may ask, and gets what was true a moment before.</summary>
    internal bool IsUnreported => Executed > _reported;

    internal void BeginFrame(DeliverHeader header)
    {
        if (header.First < Executed)
            throw new ProtocolViolation("P5.4", $"records from Lsn {header.First} where those below {Executed} are executed");
        Executed = header.First;
        _mark = header.Mark;
        if (_mark != Lsn.Zero && _mark <= Executed) ReportMark();
    }

    internal void RecordDone(Lsn end)
    {
        _bytesSinceReport += end - Executed;
        Executed = end;
        if (_mark != Lsn.Zero && _mark <= end) ReportMark();
        else if (_bytesSinceReport >= BytesBetweenReportsMax) Report(end);
    }

    /// <summary>
    /// Reports the end of a Forget record, <paramref name="end"/>, in the middle of it: at exactly this place, before anything that follows
    /// from the record.
    /// </summary>
    internal void ReportForget(Lsn end)
    {
        if (_mark == end) _mark = Lsn.Zero; // one report answers both
        Report(end);
    }

    internal void EndFrame()
    {
        if (_mark != Lsn.Zero) ReportMark();
    }

    internal void InputDry()
    {
        if (Executed > _reported) Report(Executed);
    }

    /// <summary>An image was sent and says the position itself (P5.7): it counts as a report.</summary>
    internal void ReportedByImage() => (_reported, _bytesSinceReport) = (Lsn.Max(Executed, _reported), 0);

    /// <summary>Answers a mark with exactly itself, even if more was reported before.</summary>
    private void ReportMark()
    {
        Lsn due = _mark;
        _mark = Lsn.Zero;
        Report(due);
    }

    private void Report(Lsn position)
    {
        outbound.Write(new ProcessedFrame(position));
        if (position > _reported) _reported = position;
        _bytesSinceReport = 0;
    }
}
