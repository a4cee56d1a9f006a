using Microsoft.Extensions.Logging;

namespace CRA.Catalog;

/// <summary>Declares the events of a catalog in a directory.</summary>
internal static partial class CatalogEvents
{
    /// <summary>
    /// A file in the catalog is no entry, or a damaged one. It is passed over and named once; remove it, or look who writes there.
    /// </summary>
    [LoggerMessage(EventId = 151, EventName = "catalog.file.ignored", Level = LogLevel.Warning,
        Message = "Catalog file '{File}' is ignored: {Why} (P8.2).")]
    public static partial void CatalogFileIgnored(this ILogger logger, string file, string why);
}
