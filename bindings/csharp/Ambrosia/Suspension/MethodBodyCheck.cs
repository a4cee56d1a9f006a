using Ambrosia.MethodBodies;
using Ambrosia.Protocol;

namespace Ambrosia.Suspension;

/// <summary>
/// Compares the bodies that an image depends on with those of this build, and says in one line for each method and await what could not
/// go on.
/// </summary>
internal static class MethodBodyCheck
{
    /// <summary>
    /// Returns what would be refused, one line each; the image can be restored if there is none. It reads the section to its end either
    /// way.
    /// </summary>
    /// <param name="bodiesOf">The bodies of an assembly by its simple name; null: the app has no such assembly.</param>
    /// <param name="acceptSource">An operator's word that an equal source is enough, where the IL differs but fields
    /// and states do not.</param>
    internal static List<string> Refusals(ref CborReader from, Func<string, KnownMethodBodies?> bodiesOf, bool acceptSource)
    {
        var refusals = new List<string>();
        for (int left = from.ReadArrayHeader(); left > 0; left--)
        {
            from.ReadArrayHeader();
            string assembly = from.ReadString(), id = from.ReadString(), il = from.ReadString(), source = from.ReadString();
            KnownMethodBodies? known = bodiesOf(assembly);
            MethodBodyRow? now = known?.Row(id);
            string? why = known is null ? $"there is no assembly {assembly} any more"
                : known.Missing is { } missing ? $"its body is not known: {missing}"
                : now is null ? "there is no such method any more"
                : null;
            bool sameStates = ReadTypes(ref from, now, ref why);
            if (why is null && now!.Il != il) why = WhyChanged(now, source, sameStates, acceptSource);
            ReadSites(ref from, CSharpNames.Signature(id), now, why, refusals);
        }
        return refusals;
    }

    private static string? WhyChanged(MethodBodyRow now, string source, bool sameStates, bool acceptSource)
    {
        if (source.Length == 0 || source != now.SourceHash) return "its body changed";
        if (acceptSource && sameStates) return null;
        return "its source is the same but was compiled differently (another compiler, Debug and Release, a constant or an overload elsewhere)" +
            (sameStates ? "; AMBROSIA_ACCEPT_SOURCE=1 accepts it" : "");
    }

    private static bool ReadTypes(ref CborReader from, MethodBodyRow? now, ref string? why)
    {
        bool sameStates = true;
        for (int left = from.ReadArrayHeader(); left > 0; left--)
        {
            from.ReadArrayHeader();
            string role = from.ReadString();
            ulong states = from.ReadUInt64();
            var layout = new string[from.ReadArrayHeader()];
            for (int i = 0; i < layout.Length; i++) layout[i] = from.ReadString();
            OwnedType? type = now?.Types.FirstOrDefault(each => each.Role == role);
            sameStates &= type is not null && states == (ulong)type.Sites.Count;
            if (why is not null) continue;
            if (type is null) why = "its body changed";
            else if (!layout.SequenceEqual(type.Layout)) why = $"its saved locals differ: {Difference(layout, type.Layout)}";
        }
        return sameStates;
    }

    private static void ReadSites(ref CborReader from, string signature, MethodBodyRow? now, string? why, List<string> refusals)
    {
        int sites = from.ReadArrayHeader();
        for (int left = sites; left > 0; left--)
        {
            from.ReadArrayHeader();
            string role = from.ReadString();
            int state = from.ReadInt32();
            ulong count = from.ReadUInt64();
            string forWhat = from.ReadString();
            if (why is null) continue;
            string inner = role.LastIndexOf('/') is >= 0 and { } slash ? $"{role[..slash]} in " : "";
            string place =
                now?.Types.FirstOrDefault(
                    type => type.Role == role)?.Sites.FirstOrDefault(site => site.State == state) is { Line: > 0 } site
                    ? $" (now {site.File}:{site.Line})" : "";
            refusals.Add(
                $"{count} suspended call{(count == 1 ? "" : "s")} of {inner}{signature} at await #{state}{place}{(forWhat.Length > 0 ? $", waiting for {forWhat}" : "")}: {why}");
        }
        if (sites == 0 && why is not null) refusals.Add($"a closure or lambda of {signature}: {why}");
    }

    private static string Difference(IReadOnlyList<string> was, IReadOnlyList<string> now)
    {
        string[] changed = [.. was.Except(now).Select(static field => $"-{field}"), .. now.Except(was).Select(static field => $"+{field}")];
        return changed.Length == 0 ? "their order" : string.Join(", ", changed);
    }
}
