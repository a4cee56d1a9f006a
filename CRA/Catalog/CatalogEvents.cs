using Microsoft.Extensions.Logging;

namespace CRA.Catalog;

/// <summary>Declares the events of a catalog.</summary>
internal static partial class CatalogEvents
{
    /// <summary>
    /// A file in the catalog is no entry, or a damaged one. It is passed over and named once; remove it, or look who writes there.
    /// </summary>
    [LoggerMessage(EventId = 151, EventName = "catalog.file.ignored", Level = LogLevel.Warning,
        Message = "Catalog file '{File}' is ignored: {Why} (P8.2).")]
    public static partial void CatalogFileIgnored(this ILogger logger, string file, string why);

    /// <summary>
    /// A value in the store of a catalog is no entry, or a damaged one. It is passed over and named once; remove it, or look
    /// who writes there.
    /// </summary>
    [LoggerMessage(EventId = 152, EventName = "catalog.value.ignored", Level = LogLevel.Warning,
        Message = "Value '{Value}' of the catalog {Place} is ignored: {Why} (P8.2).")]
    public static partial void CatalogValueIgnored(this ILogger logger, string value, string place, string why);
}
