using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>Where the log ends.</summary>
internal sealed record EndReport(EndReport.Place End) : IReport
{
    /// <param name="DurableUpTo">Highest position that the log itself states as durable.</param>
    /// <param name="TornBytes">Bytes behind <paramref name="Lsn"/> that a crash left unfinished: nobody was told that they are
    /// there. Null: none.</param>
    /// <param name="Reason">Why they are torn.</param>
    internal sealed record Place(ulong Lsn, ulong DurableUpTo, long? TornBytes, string? File, long? Offset, string? Reason);

    public static EndReport Of(ReadVerdict verdict) => new(verdict is ReadVerdict.Cut cut
        ? new Place(cut.End.Value, cut.DurableUpTo.Value, cut.Bytes, cut.File, cut.Offset, cut.Reason)
        : new Place(verdict.End.Value, verdict.DurableUpTo.Value, null, null, null, null));

    public void Draw(Screen screen)
    {
        screen.Line($"the log ends at Lsn {End.Lsn}; it states {End.DurableUpTo} as durable");
        if (End.TornBytes is { } bytes)
            screen.Line(
                $"torn tail: {Wording.Size(bytes)} behind it are unfinished ({End.File}, byte {End.Offset}: {End.Reason}); nobody was told that they are durable, so nothing is lost",
                Tone.Warning);
    }
}
