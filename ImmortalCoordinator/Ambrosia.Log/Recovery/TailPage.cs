namespace Ambrosia.Log;

/// <summary>A valid page of the tail, by its header and hash; its content is read again when it is logged again.</summary>
internal sealed record TailPage(PageHeader Header, ulong Hash);
