using Ambrosia.Images.Comparison;
using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Inspection.States;

/// <summary>
/// Says in lines in what two states differ, by path, since another build may write the same state in other bytes. What is in no field of
/// the app is compared too: timers, tasks, outstanding calls.
/// </summary>
internal static class StateLines
{
    /// <summary>So many paths are shown; the rest is counted.</summary>
    private const int ShownMax = 20;

    /// <summary>A field of a timer stands so deep in a session.</summary>
    private const int SessionDepth = 3;

    /// <summary>How many methods are suspended within each other is a matter of how the code is written.</summary>
    private const string Frames = "FramesSuspended";

    /// <summary>So many values of a session are compared.</summary>
    private const int SessionValuesMax = 10_000;

    /// <summary>Returns a line for each path; none: the states are alike.</summary>
    public static IReadOnlyList<string> Of(LargeBuffer then, LargeBuffer now)
    {
        ImageTree before = ImageTree.Read(then), after = ImageTree.Read(now);
        ImageDifferences state = ImageComparison.Of(before, after, ShownMax);
        List<string> lines = [.. state.Shown.Select(static each => each.ToString())];
        long count = state.Count;
        foreach (string line in SessionLines(before, after))
            if (++count <= ShownMax) lines.Add(line);
        if (count > lines.Count) lines.Add($"and {count - lines.Count} more");
        return lines;
    }

    /// <summary>
    /// Compares what the session itself says of timers, tasks and calls. What hangs below, as the locals of suspended methods, has names
    /// that the compiler makes, and is another in each build.
    /// </summary>
    private static IEnumerable<string> SessionLines(ImageTree before, ImageTree after)
    {
        var then = new SortedDictionary<string, string>(StringComparer.Ordinal);
        var now = new SortedDictionary<string, string>(StringComparer.Ordinal);
        AddValues(ImagePath.SessionWord, before.Session, SessionDepth, then);
        AddValues(ImagePath.SessionWord, after.Session, SessionDepth, now);
        foreach (string path in then.Keys.Union(now.Keys, StringComparer.Ordinal).Order(StringComparer.Ordinal))
        {
            string? first = then.GetValueOrDefault(path), second = now.GetValueOrDefault(path);
            if (first == second) continue;
            yield return first is null ? $"{path}: added, {second}" : second is null ? $"{path}: removed, {first}"
                : $"{path}: {first} → {second}";
        }
    }

    private static void AddValues(string path, ImageNode node, int depth, SortedDictionary<string, string> to)
    {
        if (to.Count >= SessionValuesMax) return;
        if (node.Kind == NodeKind.Value) to[path] = node.Text;
        else if (depth > 0)
            foreach ((PathStep step, ImageNode member) in node.Members().Where(static each => each.Step.Text != Frames))
                AddValues(step.Kind == PathStepKind.Name ? $"{path}.{step.Text}" : $"{path}[{step.Text}]", member, depth - 1, to);
    }
}
