using System.CommandLine;
using System.Globalization;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Verification;

/// <summary>
/// The command <c>ambrosia verify DIR</c> reads everything that a log directory holds, and says what is lost and what is not.
/// </summary>
internal sealed class VerifyToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    public VerifyToolCommand(ToolStreams streams)
        : base(streams, "verify", "Reads the whole history, checkpoints included, and says what is lost and what is not.") =>
            Add(_directory);

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        VerifyReport report = screen.WithProgress("reading", BytesOf(log), done => Verify(log, done));
        screen.Show(report);
        return report.Sound ? ToolExit.Fine : ToolExit.Damage;
    }

    /// <summary>
    /// Reads everything. On a live log checkpoints come and go meanwhile, so those that have come are read after the history that begins
    /// with them.
    /// </summary>
    /// <param name="done">Gets the bytes read so far.</param>
    internal static VerifyReport Verify(LogDirectory log, Action<long> done)
    {
        var headers = HeaderCheck.Run(log);
        var checkpoints = new CheckpointCheck(log);
        checkpoints.Run(done);
        var history = new HistoryCheck(log with { Files = headers.Readable }, checkpoints.Verdicts);
        history.Run(bytes => done(checkpoints.BytesRead + bytes));
        checkpoints.Run(done: static _ => { });
        return VerifyReport.Of(log, headers, checkpoints.Verdicts, history);
    }

    private static long BytesOf(LogDirectory log)
    {
        long bytes = 0;
        foreach (string name in log.Files.List(log.Path))
        {
            if (SegmentFileName.TryParse(name) is null && CheckpointFileName.Parse(name) is null) continue;
            try
            {
                using IFile file = log.Files.Open(log.PathOf(name), FileUse.Read);
                bytes += file.BytesTaken;
            }
            catch (FileNotFoundException) { } // truncated meanwhile
        }
        return bytes;
    }
}

/// <summary>Reports what 'ambrosia verify' has found.</summary>
/// <param name="Sound">True if all that was read is sound, and nothing is missing of which the directory tells; the exit code is then
/// 0.</param>
/// <param name="From">The Lsn of the oldest page, or null where there is no log yet.</param>
/// <param name="End">The end of the log, or null where damage hides it.</param>
/// <param name="BytesRead">The bytes of log in sound pages.</param>
/// <param name="Records">The number of records of each kind.</param>
/// <param name="Headers">The damage of headers and of the fence.</param>
/// <param name="Lost">The ranges of the log that cannot be read.</param>
/// <param name="BytesLost">The bytes in these ranges. Where nothing behind damage can be read, its extent is not known and not in the
/// sum.</param>
/// <param name="Violations">Content that breaks the format in sound pages; at most 1,000 of <paramref name="ViolationCount"/>.</param>
internal sealed record VerifyReport(
    string Directory, string Instance, Guid Uuid, bool Sound, ulong? Epoch, ulong? From, LogEndReport.Position? End, long Pages,
    long BytesRead, long Messages, IReadOnlyDictionary<string, long> Records, IReadOnlyList<DamageReport.Details> Headers,
    IReadOnlyList<UnreadableRange> Lost, long BytesLost, IReadOnlyList<FormatViolation> Violations, long ViolationCount,
    IReadOnlyList<CheckpointVerdict> Checkpoints, RestartForecast Restart) : IReport
{
    public static VerifyReport Of(LogDirectory log, HeaderCheck headers, IReadOnlyList<CheckpointVerdict> checkpoints, HistoryCheck history)
    {
        bool sound = headers.Damage.Count == 0 && history.Unreadable.Count == 0 && history.ViolationCount == 0
            && checkpoints.All(static each => each.Damage is null)
            && history.Verdict is ReadVerdict.CleanEnd or ReadVerdict.TornTail;
        RestartForecast restart = RestartForecast.Of(log, headers, checkpoints, history) with
        {
            IsCut = log.Files.Exists(log.PathOf(LogCut.FileName)), IsMasked = LogCut.IsMasked(log.Files, log.Path),
        };
        return new VerifyReport(
            log.Path, log.Identity.Name, log.Identity.Uuid, sound && restart is { Possible: true, Gap: null }, headers.Epoch,
            history.From?.Value,
            history.Verdict is ReadVerdict.CleanEnd or ReadVerdict.TornTail ? LogEndReport.Of(history.Verdict).End : null,
            history.Pages, history.Bytes, history.Messages, history.Kinds,
            [.. headers.Damage.Select(static damage => DamageReport.Of(damage).Damage)], history.Unreadable,
            history.Unreadable.Sum(static loss => loss.Bytes), history.Violations, history.ViolationCount, checkpoints, restart);
    }

    public void Draw(Screen screen)
    {
        screen.Line($"{Instance}  {Uuid}  {Directory}", Tone.Heading);
        DrawRead(screen);
        foreach (DamageReport.Details header in Headers) new DamageReport(header).Draw(screen);
        foreach (UnreadableRange loss in Lost) DrawUnreadable(screen, loss);
        foreach (FormatViolation violation in Violations) screen.Line($"WRONG    record at Lsn {violation.Lsn}: {violation.What}", Tone.Bad);
        if (ViolationCount > Violations.Count)
            screen.Line($"         … and {TextFormat.Number(ViolationCount - Violations.Count)} more", Tone.Bad);
        foreach (CheckpointVerdict checkpoint in Checkpoints)
        {
            if (checkpoint.Damage is { } damage) new DamageReport(damage).Draw(screen);
            else screen.Line($"sound    {checkpoint.File}  {TextFormat.Size(checkpoint.FileBytes)}", Tone.Good);
        }
        if (Restart.Gap is { } gap)
            screen.Line(
                $"MISSING  {gap.Missing}: {string.Join(", ", gap.Before)} stand before a gap, and the log can be read from Lsn {gap.From} on",
                Tone.Bad);
        DrawVerdict(screen);
    }

    private void DrawRead(Screen screen)
    {
        if (From is not { } from)
        {
            screen.Line("no segments: nothing was ever logged");
            return;
        }
        string kinds = string.Join(", ",
            Records.Select(static kind => string.Create(CultureInfo.InvariantCulture, $"{kind.Key} {kind.Value}")));
        screen.Line(
            $"read     {TextFormat.Size(BytesRead)} from Lsn {from}: {TextFormat.Number(Pages)} pages, {TextFormat.Number(Records.Values.Sum())} records ({kinds}), {TextFormat.Number(Messages)} messages");
        if (End is not null) new LogEndReport(End).Draw(screen);
    }

    private static void DrawUnreadable(Screen screen, UnreadableRange loss)
    {
        new DamageReport(loss.Why).Draw(screen);
        if (loss.Bytes > 0)
            screen.Line(
                $"         unreadable: {TextFormat.Size(loss.Bytes)} of log, Lsn {loss.From} to {loss.To}; behind it the log can be read again",
                Tone.Bad);
        else if (loss.To == loss.From) screen.Line($"         nothing behind Lsn {loss.From} can be read", Tone.Bad);
    }

    private void DrawVerdict(Screen screen)
    {
        string begin = Restart.Checkpoint is { } checkpoint ? $"from {checkpoint}, replaying the log from Lsn {Restart.From}"
            : "by replaying the log from its first record";
        if (Sound)
            screen.Line(
                $"ok: all that was read is sound, and nothing is missing of which the directory tells; {(Restart.IsCut ? $"it is a {(Restart.IsMasked ? "masked " : "")}cut, which a view executes and no coordinator," : "a coordinator starts")} {begin}. Whether more was logged behind the end, and went with all that told of it, cannot be seen here",
                Tone.Good);
        else if (Restart.Possible)
            screen.Line(
                $"DAMAGED: a coordinator starts all the same, {begin}: {(ViolationCount > 0 ? "whether it gets past the records that break the format was not tried" : "what is damaged or missing is not among what it reads. History is lost, or a checkpoint, and with it the way back to it")}",
                Tone.Warning);
        else
            screen.Line(
                $"DAMAGED: a coordinator would halt (exit 65): {Restart.Why}; put the directory back from a copy, or let a replica that has the whole log take over",
                Tone.Bad);
    }
}

/// <summary>Predicts what a coordinator would do that starts on this directory now.</summary>
/// <param name="Possible">False if it would halt with exit code 65.</param>
/// <param name="Checkpoint">The checkpoint with which it would begin, or null where it would begin with the log's first record.</param>
/// <param name="From">The Lsn of the first page that it would replay.</param>
/// <param name="Why">Where it would halt and why, or null where it would start.</param>
/// <param name="Gap">What is missing in front of the log although older segments are there, or null where nothing is.</param>
internal sealed record RestartForecast(bool Possible, string? Checkpoint, ulong From, string? Why, LogGap? Gap = null)
{
    /// <summary>The directory holds a cut of a log, which no coordinator runs.</summary>
    public bool IsCut { get; init; }

    /// <summary>It is a cut whose values were replaced by others.</summary>
    public bool IsMasked { get; init; }

    public static RestartForecast Of(
        LogDirectory log, HeaderCheck headers, IReadOnlyList<CheckpointVerdict> checkpoints, HistoryCheck history)
    {
        if (headers.Damage.Count > 0) return new RestartForecast(false, null, 0, headers.Damage[0].Message);
        if (history.Verdict is null && history.Unreadable is [var first, ..])
            return new RestartForecast(false, null, 0, DamageReport.Describe(first.Why));
        var location = new LogLocation(log.Files, log.Path, log.Identity);
        try
        {
            Lsn end = LogStart.Judge(location, out LogChain chain).End; // what a take-over asks, too
            return Of(location, chain, end, checkpoints, history) with { Gap = LogStart.FindGap(location, chain) };
        }
        catch (Exception halt) when (halt is LogDamage or IOException)
        {
            return new RestartForecast(false, null, 0, halt.Message);
        }
    }

    private static RestartForecast Of(
        LogLocation location, LogChain chain, Lsn end, IReadOnlyList<CheckpointVerdict> checkpoints, HistoryCheck history)
    {
        CheckpointVerdict? newest = checkpoints.LastOrDefault(
            checkpoint => checkpoint.Header is { } header && history.From is { } from && header.PageLsn >= from && header.Lsn <= end
                && (IsTruncatedSince(header, chain) || LogStart.WhatIsWrong(location, header, chain).Length == 0));
        Lsn start = newest?.Header!.PageLsn ?? Lsn.Zero;
        RestartForecast No(string why) => new(false, newest?.File, start.Value, why);

        if (newest is null && history.From is { } oldest && oldest > Lsn.Zero)
            return No($"the log begins at Lsn {oldest} and no sound checkpoint holds what came before");
        // A coordinator does not read again what lies below the checkpoint.
        UnreadableRange? inTheWay = history.Unreadable.FirstOrDefault(loss => loss.To > start.Value || loss.From >= start.Value);
        return inTheWay is null ? new RestartForecast(true, newest?.File, start.Value, null) : No(DamageReport.Describe(inTheWay.Why));
    }

    /// <summary>Returns true when a live log has gone on, and has truncated what a checkpoint needs since that was read.</summary>
    private static bool IsTruncatedSince(CheckpointHeader header, LogChain chain) =>
        chain.Segments is [var oldest, ..] && header.PageLsn < oldest.FirstLsn;
}
