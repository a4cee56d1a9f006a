using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.States;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Compares states where two executions of a log stand: by the bytes of their images, and by path where those differ.
/// </summary>
internal sealed class StateComparison(LogLocation log)
{
    /// <summary>The checkpoints that the log has now, the newest first.</summary>
    public IEnumerable<CheckpointFileName> Checkpoints() => CheckpointDirectory.List(log.Files, log.Directory);

    /// <summary>
    /// Returns what differs between the states of two builds that stand at one place, a line for each path; none, where they are no builds
    /// of one version.
    /// </summary>
    public static IReadOnlyList<string> Lines(ReplayedBuilds builds, CancellationToken stop)
    {
        if (!builds.HaveOneState || builds.Then is not { } old) return [];
        using ViewedImage then = old.Show(stop), now = builds.Now.Show(stop);
        return then.Hash == now.Hash ? [] : StateLines.Of(then.Bytes, now.Bytes);
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
            return StateLines.Of(then, now.Bytes);
        }
    }
}
