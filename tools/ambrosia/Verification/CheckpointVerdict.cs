using System.Text.Json.Serialization;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>A checkpoint that was read as a whole.</summary>
/// <param name="Damage">Null: it is sound.</param>
internal sealed record CheckpointVerdict(string File, ulong Lsn, long FileBytes, DamageReport.Place? Damage)
{
    /// <summary>Null: it cannot be used.</summary>
    [JsonIgnore]
    public CheckpointHeader? Header { get; init; }
}
