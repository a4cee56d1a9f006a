namespace Ambrosia.Tools;

/// <summary>A record in a whole page whose content breaks the format: written so, not damaged since.</summary>
internal sealed record Oddity(ulong Lsn, string What);
