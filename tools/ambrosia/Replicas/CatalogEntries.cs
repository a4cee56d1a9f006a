using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Output;
using CRA.Catalog;

namespace Ambrosia.Tools.Replicas;

/// <summary>Reads the entries of a catalog, wherever it is: where the logs of its instances are. It only reads.</summary>
internal static class CatalogEntries
{
    private const string Mend = "give the place that the coordinators' --catalog names";

    /// <summary>Returns the place of a catalog.</summary>
    /// <exception cref="ToolMisuse">It is none, or a directory that is not there.</exception>
    public static CatalogPlace Require(string text)
    {
        if (CatalogPlace.TryParse(text, out string wrong) is not { } place) throw new ToolMisuse(wrong, "", "");
        return !place.IsDirectory || Directory.Exists(place.Path) ? place
            : throw new ToolMisuse($"'{place.Path}' is not there", "a catalog is a directory", Mend);
    }

    /// <summary>Returns each instance with its log, by its entry of the highest epoch (protocol P8).</summary>
    /// <exception cref="ToolMisuse">The store cannot be read.</exception>
    public static IReadOnlyList<(string Instance, string Log)> Read(CatalogPlace place, Screen screen) =>
        [.. ReadAll(place, Open(place, screen)).Select(static entry => ($"{entry.Instance}", entry.LogPath))];

    public static ICatalog Open(CatalogPlace place, Screen screen) =>
        CatalogOpening.Open(place, new ReadOnlyFiles(), null, new NoteLogger(screen));

    public static IReadOnlyList<CatalogEntry> ReadAll(CatalogPlace place, ICatalog catalog)
    {
        try
        {
            return catalog.All();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ToolMisuse($"the catalog {place} cannot be read", e.Message.TrimEnd('.'), Mend);
        }
    }
}
