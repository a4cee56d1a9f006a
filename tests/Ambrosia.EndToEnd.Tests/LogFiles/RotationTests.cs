using System.Net.Sockets;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A coordinator that fills one small segment after another dies at each step of a rotation: into a fresh file, and into one that it writes
/// again. The next start has all, and leaves no file that no one needs.
/// </summary>
public sealed class RotationTests
{
    private const int StateBytes = 64 << 10, MessageBytes = 60_000;

    [Theory]
    [InlineData("segment.beforeCreate", 2)] // the first time is the start's
    [InlineData("segment.afterLength", 2)]
    [InlineData("segment.afterCreate", 2)]
    [InlineData("segment.afterDirFsync", 2)]
    [InlineData("segment.beforeCreate", 9)]
    [InlineData("segment.afterCreate", 9)]
    [InlineData("segment.afterDirFsync", 9)]
    [InlineData("segment.recycle", 1)]
    [InlineData("segment.afterRecycle", 1)]
    [InlineData("segment.recycle", 3)]
    public void Coordinator_KilledInARotation_NextStartHasAllAndNoOrphans(string point, int pass)
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("turning", "none");
        replica.Options.AddRange(["--segment", "2M", "--checkpoint-every", "5M"]);
        cluster.Run(Cluster.Again(point), () =>
        {
            RunToItsDeath(replica, $"{point}:{pass}");
            Assert.Equal(Signals.KilledExitCode, replica.AwaitExit());
            Assert.Equal(0, Tool.Run("verify", replica.LogDirectory).Code);

            using ImageApp app = CheckpointRun.Start(replica, StateBytes, prepare: static app => Talks(app));
            app.AnswersEach = false; // it falls silent
            string[] names = [CheckpointRun.Checkpoint(replica, app), CheckpointRun.Checkpoint(replica, app)];
            Cluster.Await("only what is needed is there", () => IsTidy(replica, names));
            Assert.Equal(0, Tool.Run("verify", replica.LogDirectory).Code);
            cluster.AssertNoneGaveUp();
        });
    }

    private static void RunToItsDeath(Replica replica, string crashAt)
    {
        try
        {
            using ImageApp app = CheckpointRun.Start(replica, StateBytes, crashAt, static app => Talks(app));
            app.RunUntil(() => !replica.IsRunning);
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            // It died while the app spoke to it.
        }
    }

    /// <summary>Answers itself for ever, the same in every replay.</summary>
    private static void Talks(ImageApp app) => (app.AnswersEach, app.Seeds, app.MessageBytes) = (true, 8, MessageBytes);

    /// <summary>The two checkpoints, the segments from the page of the older on, spares of this epoch.</summary>
    private static bool IsTidy(Replica replica, string[] checkpoints)
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.TryRead(files, replica.LogDirectory)!;
        LogChain chain = LogChain.Load(files, replica.LogDirectory, identity);
        Epoch epoch = chain.Segments[^1].Epoch;
        string[] needed = [.. checkpoints, .. chain.Segments.Select(static segment => Path.GetFileName(segment.Path))];
        return files.List(replica.LogDirectory)
            .Where(static name => name.Split('.')[0] is "log" or "ckpt" or "spare" || name.EndsWith(".tmp", StringComparison.Ordinal))
            .All(name => needed.Contains(name) || name.StartsWith($"spare.{epoch}.", StringComparison.Ordinal))
            && chain.Segments[0].FirstLsn <= CheckpointFileName.Parse(checkpoints[0])!.Lsn
            && (chain.Segments.Length == 1 || chain.Segments[1].FirstLsn > CheckpointFileName.Parse(checkpoints[0])!.Lsn);
    }
}
