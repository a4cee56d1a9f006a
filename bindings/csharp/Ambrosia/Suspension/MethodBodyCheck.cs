using Ambrosia.MethodBodies;
using Ambrosia.Protocol;

namespace Ambrosia.Suspension;

/// <summary>
/// Compares the bodies that an image depends on with those of this build. Each method goes on in the body that the method of its name has
/// now, or else in one that is kept for it; what could go on in none is refused, in one line for each method and await.
/// </summary>
internal static class MethodBodyCheck
{
    /// <summary>Judges an image by its section of bodies, which it reads to its end either way.</summary>
    /// <param name="bodiesOf">The bodies of an assembly by its simple name; null: the app has no such assembly.</param>
    /// <param name="acceptSource">An operator's word that an equal source is enough, where the IL differs but fields
    /// and states do not.</param>
    /// <param name="moved">Gives a method of the image as it is looked for; null: as it is.</param>
    internal static BodyFindings Judge(
        ref CborReader from, Func<string, KnownMethodBodies?> bodiesOf, bool acceptSource, Func<SuspendedBody, SuspendedBody>? moved = null)
    {
        var findings = new BodyFindings([], [], new KeptBodies());
        for (int left = from.ReadArrayHeader(); left > 0; left--)
        {
            SuspendedBody was = SuspendedBody.Read(ref from);
            if (moved is not null) was = moved(was);
            Judge(was, bodiesOf(was.Assembly), acceptSource, findings);
        }
        return findings;
    }

    private static void Judge(SuspendedBody was, KnownMethodBodies? known, bool acceptSource, BodyFindings findings)
    {
        MethodBodyRow? now = known?.Row(was.Id);
        MethodBodyRow[] bodies = known is null ? [] : [.. known.Bodies(was.Id)];
        MethodBodyRow? found = Array.Find(bodies, body => WhyNot(was, body, acceptSource: false) is null)
            ?? (acceptSource && now is not null ? Array.Find(bodies, body => WhyNot(was, body, acceptSource) is null) : null);
        if (found is null)
        {
            Refuse(was, now, known is null ? $"there is no assembly {was.Assembly} any more"
                : known.Missing is { } missing ? $"its body is not known: {missing}"
                : now is null ? "there is no such method any more"
                : $"{WhyNot(was, now, acceptSource)}{KeptOthers(bodies[1..])}", findings.Refusals);
            return;
        }
        if (found == now) return;
        findings.Bodies.Add(was.Assembly, was.Id, found.Id);
        ulong count = was.Sites.Aggregate(0UL, static (sum, site) => sum + site.Count);
        string signature = CSharpNames.Signature(was.Id), there = CSharpNames.Signature(found.Id);
        findings.Kept.Add(count == 0 ? $"a closure or lambda of {signature} goes on in {there}, which has its body"
            : count == 1 ? $"1 suspended call of {signature} goes on in {there}, which has its body"
            : $"{count} suspended calls of {signature} go on in {there}, which has their body");
    }

    /// <summary>Returns the reason for which a method of an image cannot go on in a body; null: it can.</summary>
    private static string? WhyNot(SuspendedBody was, MethodBodyRow now, bool acceptSource)
    {
        bool sameStates = true;
        foreach (SuspendedType type in was.Types)
        {
            OwnedType? same = now.Types.FirstOrDefault(each => each.Role == type.Role);
            if (same is null) return "its body changed";
            if (!type.Layout.SequenceEqual(same.Layout)) return $"its saved locals differ: {Difference(type.Layout, same.Layout)}";
            sameStates &= type.States == (ulong)same.Sites.Count;
        }
        if (now.Il == was.Il) return null;
        if (was.Source.Length == 0 || was.Source != now.SourceHash) return "its body changed";
        if (acceptSource && sameStates) return null;
        return "its source is the same but was compiled differently (another compiler, Debug and Release, a constant or an overload elsewhere)" +
            (sameStates ? "; AMBROSIA_ACCEPT_SOURCE=1 accepts it" : "");
    }

    private static string KeptOthers(MethodBodyRow[] kept) => kept.Length == 0 ? ""
        : $", and what {string.Join(" and ", kept.Select(static each => CSharpNames.Signature(each.Id)))} keeps is another body than the one that is suspended";

    private static void Refuse(SuspendedBody was, MethodBodyRow? now, string why, List<string> refusals)
    {
        string signature = CSharpNames.Signature(was.Id);
        foreach (SuspendedSite at in was.Sites)
        {
            string inner = at.Role.LastIndexOf('/') is >= 0 and { } slash ? $"{at.Role[..slash]} in " : "";
            string place = now?.Types.FirstOrDefault(type => type.Role == at.Role)?.Sites.FirstOrDefault(site => site.State == at.State)
                is { Line: > 0 } site ? $" (now {site.File}:{site.Line})" : "";
            refusals.Add(
                $"{at.Count} suspended call{(at.Count == 1 ? "" : "s")} of {inner}{signature} at await #{at.State}{place}{(at.ForWhat.Length > 0 ? $", waiting for {at.ForWhat}" : "")}: {why}");
        }
        if (was.Sites.Count == 0) refusals.Add($"a closure or lambda of {signature}: {why}");
    }

    private static string Difference(IReadOnlyList<string> was, IReadOnlyList<string> now)
    {
        string[] changed = [.. was.Except(now).Select(static field => $"-{field}"), .. now.Except(was).Select(static field => $"+{field}")];
        return changed.Length == 0 ? "their order" : string.Join(", ", changed);
    }
}

/// <summary>Says what a build makes of what is suspended in an image; the image can be restored if nothing is refused.</summary>
/// <param name="Refusals">A line for each method and await that could not go on.</param>
/// <param name="Kept">A line for each method that goes on in a kept body.</param>
/// <param name="Bodies">Where each of those goes on.</param>
internal sealed record BodyFindings(List<string> Refusals, List<string> Kept, KeptBodies Bodies)
{
    /// <summary>The ways out of a refusal, in one sentence that follows the lines.</summary>
    internal const string Mend = "start the build that wrote it, let these calls finish, and take a checkpoint before the upgrade; "
        + "or keep the old body beside the new one, in a private method of the same class under [Formerly(nameof(X))], "
        + "in which they go on while new calls run the new body";
}
