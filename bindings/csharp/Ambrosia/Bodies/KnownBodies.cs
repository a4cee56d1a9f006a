namespace Ambrosia;

/// <summary>The bodies of one assembly by their ids.</summary>
/// <param name="missing">Why they could not be read; null: they were.</param>
internal sealed class KnownBodies(IEnumerable<BodyRow> all, string? missing = null)
{
    private readonly Dictionary<string, BodyRow> rows = all.GroupBy(static row => row.Id)
        .ToDictionary(static group => group.Key, static group => group.First());

    internal string? Missing => missing;

    internal BodyRow? Row(string id) => rows.GetValueOrDefault(id);
}
