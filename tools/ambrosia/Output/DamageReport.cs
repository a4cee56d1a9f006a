using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>Something is not what the format or the rest of the log says that it is.</summary>
/// <param name="Damage">Where, and what.</param>
internal sealed record DamageReport(DamageReport.Place Damage) : IReport
{
    /// <param name="File">Path; null where only the position is known.</param>
    /// <param name="Offset">Bytes into the file.</param>
    /// <param name="Lsn">Log position, for files of the log's chain.</param>
    internal sealed record Place(string? File, long? Offset, ulong? Lsn, string Expected, string Found);

    public static DamageReport Of(LogDamage damage) =>
        new(new Place(damage.File, damage.Offset, damage.Lsn?.Value, damage.Expected, damage.Found));

    public static DamageReport Of(ProtocolViolation violation) =>
        new(new Place(null, null, violation.Lsn?.Value, $"what {violation.Section} says", violation.Message));

    public void Draw(Screen screen) => screen.Line($"DAMAGED  {Words(Damage)}", Tone.Bad);

    public static string Words(Place damage)
    {
        string place = damage.File is { } file ? $"{file}, byte {damage.Offset}" : "the log";
        return $"{place}{(damage.Lsn is { } lsn ? $", Lsn {lsn}" : "")}: expected {damage.Expected}, found {damage.Found}";
    }
}
