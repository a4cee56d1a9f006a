using Ambrosia.Coordinator.Views;
using Ambrosia.Images.Comparison;
using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
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

    /// <summary>Returns what differs between the states of two builds that stand at one place, a line for each path.</summary>
    public static IReadOnlyList<string> Lines(ReplayedBuilds builds, CancellationToken stop)
    {
        if (builds.Then is not { } old) return [];
        using ViewedImage then = old.Show(stop), now = builds.Now.Show(stop);
        return then.Hash == now.Hash ? [] : Lines(then.Bytes, now.Bytes);
    }

    /// <summary>Compares the state of a build with that of a checkpoint at the place where it stands; null: the checkpoint is gone.</summary>
    /// <exception cref="LogDamage">The checkpoint is damaged.</exception>
    public IReadOnlyList<string>? Lines(CheckpointFileName checkpoint, ReplayedBuild build, CancellationToken stop)
    {
        CheckpointReader reader;
        try
        {
            reader = CheckpointReader.Open(log.Files, Path.Combine(log.Directory, checkpoint.ToString()), log.Identity);
        }
        catch (FileNotFoundException)
        {
            return null; // newer ones have replaced it
        }
        using (reader)
        {
            using ViewedImage now = build.Show(stop);
            if (now.Hash == reader.ImageHash) return [];
            using var then = new LargeBuffer();
            while (reader.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
                if (section == CheckpointSection.Image) then.Append(content);
            return Lines(then, now.Bytes);
        }
    }

    private static IReadOnlyList<string> Lines(LargeBuffer then, LargeBuffer now)
    {
        ImageTree before = ImageTree.Read(then), after = ImageTree.Read(now);
        ImageDifferences state = ImageComparison.Of(before, after, ShownMax);
        var lines = state.Shown.Select(static each => each.ToString()).ToList();
        if (state.Count > lines.Count) lines.Add($"and {state.Count - lines.Count} more");
        return lines;
    }
}
