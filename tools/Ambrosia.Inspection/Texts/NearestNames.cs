namespace Ambrosia.Inspection.Texts;

/// <summary>Finds the names that are most like one that was mistaken. Upper and lower case are alike.</summary>
internal static class NearestNames
{
    /// <summary>Returns the nearest names, the best first.</summary>
    /// <param name="count">At most so many are returned.</param>
    public static IReadOnlyList<string> Of(string name, IEnumerable<string> names, int count) =>
        [.. names.Distinct().OrderBy(each => Distance(name, each)).ThenBy(static each => each, StringComparer.Ordinal).Take(count)];

    /// <summary>
    /// Counts the letters that are to be put in, taken out or replaced; between a method's short name and one with its interface, in the
    /// short one.
    /// </summary>
    private static int Distance(string name, string other)
    {
        int dot = other.LastIndexOf('.');
        int whole = Edits(name, other);
        return name.Contains('.') || dot < 0 ? whole : Math.Min(whole, Edits(name, other[(dot + 1)..]));
    }

    private static int Edits(string from, string to)
    {
        int[] row = [.. Enumerable.Range(0, to.Length + 1)];
        for (int i = 1; i <= from.Length; i++)
        {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.Length; j++)
            {
                int replaced = diagonal + (char.ToLowerInvariant(from[i - 1]) == char.ToLowerInvariant(to[j - 1]) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.Min(replaced, Math.Min(row[j], row[j - 1]) + 1);
            }
        }
        return row[^1];
    }
}
