using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Views;
using Ambrosia.Images.Comparison;
using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Compares states where two executions of a log stand: by the bytes of their images, and by path where those differ, since another build
/// may write the same state in other bytes. What is in no field of the app is compared too: timers, tasks, outstanding calls.
/// </summary>
internal sealed class StateComparison(LogLocation log)
{
    /// <summary>So many paths are shown; the rest is counted.</summary>
    private const int ShownMax = 20;

    /// <summary>A field of a timer stands so deep in a session.</summary>
    private const int SessionDepth = 3;

    /// <summary>How many methods are suspended within each other is a matter of how the code is written.</summary>
    private const string Frames = "FramesSuspended";

    /// <summary>So many values of a session are compared.</summary>
    private const int SessionValuesMax = 10_000;

    /// <summary>Returns what differs between the states of two builds that stand at one place, a line for each path.</summary>
    public static IReadOnlyList<string> Lines(ReplayedBuilds builds, CancellationToken stop)
    {
        if (builds.Then is not { } old) return [];
        using ViewedImage then = old.Show(stop), now = builds.Now.Show(stop);
        return then.Hash == now.Hash ? [] : Lines(then.Bytes, now.Bytes);
    }

    /// <summary>
    /// Compares the state of a build with that of a checkpoint at the place where it stands; null: the checkpoint is gone.
    /// </summary>
    /// <exception cref="LogDamage">The checkpoint is damaged.</exception>
    public IReadOnlyList<string>? Lines(CheckpointFileName checkpoint, ViewHost build, CancellationToken stop)
    {
        CheckpointReader reader;
        try
        {
            reader = CheckpointReader.Open(log.Files, log.PathOf(checkpoint.ToString()), log.Identity);
        }
        catch (FileNotFoundException)
        {
            return null; // newer ones have replaced it
        }
        using (reader)
        {
            using ViewedImage now = build.Show(stop);
            if (now.Hash == reader.ImageHash) return [];
            using LargeBuffer then = CheckpointImages.Read(reader);
            return Lines(then, now.Bytes);
        }
    }

    private static IReadOnlyList<string> Lines(LargeBuffer then, LargeBuffer now)
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
