using System.Globalization;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>What 'ambrosia verify' found.</summary>
/// <param name="Sound">Everything that the log promises is there: exit 0.</param>
/// <param name="From">Lsn of the oldest page; null: there is no log yet.</param>
/// <param name="End">Null: damage hides it.</param>
/// <param name="BytesRead">Of log, in pages that are sound.</param>
/// <param name="Records">By kind.</param>
/// <param name="Headers">Damage of headers and of the fence.</param>
/// <param name="Lost">Log that cannot be read.</param>
/// <param name="BytesLost">All of it; where nothing behind a damage can be read, its extent is not known and not in the sum.</param>
/// <param name="Oddities">Content that breaks the format in pages that are whole; at most 1,000 of <paramref name="OddityCount"/>.</param>
internal sealed record VerifyReport(
    string Directory, string Instance, Guid Uuid, bool Sound, ulong? Epoch, ulong? From, EndReport.Place? End, long Pages,
    long BytesRead, long Messages, IReadOnlyDictionary<string, long> Records, IReadOnlyList<DamageReport.Place> Headers,
    IReadOnlyList<Loss> Lost, long BytesLost, IReadOnlyList<Oddity> Oddities, long OddityCount,
    IReadOnlyList<CheckpointVerdict> Checkpoints, Restart Restart) : IReport
{
    public static VerifyReport Of(LogPlace place, HeaderCheck headers, IReadOnlyList<CheckpointVerdict> checkpoints, HistoryCheck history)
    {
        bool sound = headers.Damage.Count == 0 && history.Losses.Count == 0 && history.OddityCount == 0
            && checkpoints.All(static each => each.Damage is null)
            && history.Verdict is ReadVerdict.Whole or ReadVerdict.Cut;
        Restart restart = Restart.Of(headers, checkpoints, history);
        return new VerifyReport(
            place.Directory, place.Identity.Name, place.Identity.Uuid, sound && restart.Possible, headers.Epoch, history.From?.Value,
            history.Verdict is ReadVerdict.Whole or ReadVerdict.Cut ? EndReport.Of(history.Verdict).End : null,
            history.Pages, history.Bytes, history.Messages, history.Kinds,
            [.. headers.Damage.Select(static damage => DamageReport.Of(damage).Damage)], history.Losses,
            history.Losses.Sum(static loss => loss.Bytes), history.Oddities, history.OddityCount, checkpoints, restart);
    }

    public void Draw(Screen screen)
    {
        screen.Line($"{Instance}  {Uuid}  {Directory}", Tone.Heading);
        DrawRead(screen);
        foreach (DamageReport.Place header in Headers) new DamageReport(header).Draw(screen);
        foreach (Loss loss in Lost) DrawLoss(screen, loss);
        foreach (Oddity oddity in Oddities) screen.Line($"WRONG    record at Lsn {oddity.Lsn}: {oddity.What}", Tone.Bad);
        if (OddityCount > Oddities.Count) screen.Line($"         … and {Wording.Number(OddityCount - Oddities.Count)} more", Tone.Bad);
        foreach (CheckpointVerdict checkpoint in Checkpoints)
        {
            if (checkpoint.Damage is { } damage) new DamageReport(damage).Draw(screen);
            else screen.Line($"sound    {checkpoint.File}  {Wording.Size(checkpoint.FileBytes)}", Tone.Good);
        }
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
            $"read     {Wording.Size(BytesRead)} from Lsn {from}: {Wording.Number(Pages)} pages, {Wording.Number(Records.Values.Sum())} records ({kinds}), {Wording.Number(Messages)} messages");
        if (End is not null) new EndReport(End).Draw(screen);
    }

    private static void DrawLoss(Screen screen, Loss loss)
    {
        new DamageReport(loss.Why).Draw(screen);
        if (loss.Bytes > 0)
            screen.Line(
                $"         unreadable: {Wording.Size(loss.Bytes)} of log, Lsn {loss.From} to {loss.To}; behind it the log can be read again",
                Tone.Bad);
        else if (loss.To == loss.From) screen.Line($"         nothing behind Lsn {loss.From} can be read", Tone.Bad);
    }

    private void DrawVerdict(Screen screen)
    {
        string begin = Restart.Checkpoint is { } checkpoint ? $"from {checkpoint}, replaying the log from Lsn {Restart.From}"
            : "by replaying the log from its first record";
        if (Sound) screen.Line($"ok: everything that was promised is there; a coordinator starts {begin}", Tone.Good);
        else if (Restart.Possible)
            screen.Line(
                $"DAMAGED: a coordinator starts all the same, {begin}; nothing of the state is lost, but history in front of it is, and with it the way back to it",
                Tone.Warning);
        else
            screen.Line(
                $"DAMAGED: a coordinator would halt (exit 65): {Restart.Why}; put the directory back from a copy, or let a replica that has the whole log take over",
                Tone.Bad);
    }
}
