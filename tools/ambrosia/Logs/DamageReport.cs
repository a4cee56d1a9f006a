using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Logs;

/// <summary>It reports that a part of the log is not what the format or the rest of the log says that it is.</summary>
/// <param name="Damage">The place and the difference.</param>
internal sealed record DamageReport(DamageReport.Details Damage) : IReport
{
    /// <summary>They name the place of damage, and what was expected and found there.</summary>
    /// <param name="File">The path, or null where only the position is known.</param>
    /// <param name="Offset">The place in the file in bytes.</param>
    /// <param name="Lsn">The log position, for files of the log's chain.</param>
    internal sealed record Details(string? File, long? Offset, ulong? Lsn, string Expected, string Found);

    public static DamageReport Of(LogDamage damage) =>
        new(new Details(damage.File, damage.Offset, damage.Lsn?.Value, damage.Expected, damage.Found));

    public static DamageReport Of(ProtocolViolation violation) =>
        new(new Details(null, null, violation.Lsn?.Value, $"what {violation.Section} says", violation.Message));

    public void Draw(Screen screen) => screen.Line($"DAMAGED  {Describe(Damage)}", Tone.Bad);

    /// <summary>Says in one line where the damage is, and what was expected and found.</summary>
    public static string Describe(Details damage)
    {
        string place = damage.File is { } file ? $"{file}, byte {damage.Offset}" : "the log";
        return $"{place}{(damage.Lsn is { } lsn ? $", Lsn {lsn}" : "")}: expected {damage.Expected}, found {damage.Found}";
    }
}

/// <summary>Reports where the log ends.</summary>
internal sealed record LogEndReport(LogEndReport.Position End) : IReport
{
    /// <summary>It names the end of the log, and what a crash left behind it.</summary>
    /// <param name="DurableUpTo">The highest position that the log itself states as durable.</param>
    /// <param name="TornBytes">The bytes behind <paramref name="Lsn"/> that a crash left unfinished and that nobody was told to be durable;
    /// null where there are none.</param>
    /// <param name="Reason">Why these bytes are torn.</param>
    internal sealed record Position(ulong Lsn, ulong DurableUpTo, long? TornBytes, string? File, long? Offset, string? Reason);

    public static LogEndReport Of(ReadVerdict verdict) => new(verdict is ReadVerdict.TornTail cut
        ? new Position(cut.End.Value, cut.DurableUpTo.Value, cut.Bytes, cut.File, cut.Offset, cut.Reason)
        : new Position(verdict.End.Value, verdict.DurableUpTo.Value, null, null, null, null));

    public void Draw(Screen screen)
    {
        screen.Line($"the log ends at Lsn {End.Lsn}; it states {End.DurableUpTo} as durable");
        if (End.TornBytes is { } bytes)
            screen.Line(
                $"torn tail: {TextFormat.Size(bytes)} behind it are unfinished ({End.File}, byte {End.Offset}: {End.Reason}); nobody was told that they are durable, so nothing is lost",
                Tone.Warning);
    }
}
