namespace Ambrosia.Tools;

/// <summary>A stretch of log that cannot be read.</summary>
/// <param name="From">Lsn.</param>
/// <param name="To">Lsn where reading goes on; equal to <paramref name="From"/>: nowhere behind it, or only a statement is wrong.</param>
/// <param name="Bytes">Of log, headers and padding included.</param>
internal sealed record Loss(ulong From, ulong To, long Bytes, DamageReport.Place Why);
