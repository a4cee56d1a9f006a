using System.Net.Sockets;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Checkpoints and history of real processes: damage, kills at every step, what a reader holds, when they come by themselves.
/// </summary>
public sealed class RetentionTests
{
    private const int StateBytes = 3 << 20;

    private readonly Cluster _cluster = new();

    /// <summary>
    /// One bit of the newest: the older one is used, loudly. One of each: exit 65 says which and what to do, and nothing is changed.
    /// </summary>
    [Fact]
    public void Start_DamagedCheckpoints_FallsBackThenHalts() => Run(nameof(Start_DamagedCheckpoints_FallsBackThenHalts), replica =>
    {
        string older, newest;
        using (ImageApp app = CheckpointRun.Start(replica, StateBytes))
        {
            CheckpointRun.Checkpoint(replica, app);
            older = CheckpointRun.Checkpoint(replica, app);
            app.ImageBytes = 2 * StateBytes;
            newest = CheckpointRun.Checkpoint(replica, app);
        }
        replica.KillCoordinator();
        FlipABit(replica, newest);
        using (ImageApp app = CheckpointRun.Start(replica, 0))
        {
            Assert.Equal(StateBytes, app.RestoredBytes);
            replica.AwaitLine("the damaged one", line => line.Contains(newest) && line.Contains("passed over"));
        }
        replica.KillCoordinator();
        _cluster.AssertNoneGaveUp();

        foreach (string name in CheckpointRun.Names(replica)) if (name != newest) FlipABit(replica, name);
        if (CheckpointRun.Segments(replica)[0] > 1) AssertHalts(replica, older);
    });

    private static void AssertHalts(Replica replica, string older)
    {
        string[] before = FilesOf(replica);
        replica.Start(withApp: false);
        Assert.Equal(LogDamage.ExitCode, replica.AwaitExit());
        string said = replica.AwaitLine("the halt", static line => line.StartsWith("exit 65", StringComparison.Ordinal));
        Assert.Contains(older, said);
        Assert.Contains("from a backup", said);
        string[] lost = [
            .. before.Except(FilesOf(replica))
                .Where(
                    static file => file.StartsWith("log.", StringComparison.Ordinal)
                        || file.StartsWith("ckpt.", StringComparison.Ordinal))];
        Assert.Equal([], lost);
    }

        /// <summary>
        /// At every step of a checkpoint and of the truncation behind it: the next start has all, and leaves no file that no one needs.
        /// </summary>
    [Theory]
    [InlineData("ckpt.begin")]
    [InlineData("ckpt.midWrite", 3)]
    [InlineData("ckpt.afterFsync")]
    [InlineData("ckpt.afterRename")]
    [InlineData("ckpt.afterDirFsync")]
    [InlineData("truncate.afterUnlink")]
    [InlineData("truncate.afterUnlink", 2)]
    public void Coordinator_KilledAtAStep_NextStartHasAllAndNoOrphans(string point, int pass = 1) => Run($"{point}", replica =>
    {
        for (int life = 0; life < 3; life++) // each start begins a segment, so that there is something to truncate
        {
            using (ImageApp app = CheckpointRun.Start(replica, StateBytes)) CheckpointRun.Checkpoint(replica, app);
            replica.KillCoordinator();
        }
        try
        {
            using ImageApp app = CheckpointRun.Start(replica, StateBytes, $"{point}:{pass}");
            CheckpointRun.Checkpoint(replica, app);
        }
        catch (Exception e)
            when (e is IOException or SocketException or AdminUnreachableException or InvalidOperationException or AggregateException)
        {
            // It was killed while the app or the operator spoke to it; or a moment later.
        }
        Assert.Equal(Signals.KilledExitCode, replica.AwaitExit());

        using ImageApp next = CheckpointRun.Start(replica, 0);
        Assert.Equal(StateBytes, next.RestoredBytes);
        Cluster.Await("the truncation is finished", () => CheckpointRun.Names(replica).Length == 2 && IsCoveredFromTheOldest(replica));
        Assert.DoesNotContain(FilesOf(replica), static file => file.EndsWith(".tmp", StringComparison.Ordinal));
        _cluster.AssertNoneGaveUp();
    });

    [Fact]
    public void Truncation_SegmentHeldByAReader_GoesOnceReleased() =>
        Run(nameof(Truncation_SegmentHeldByAReader_GoesOnceReleased), replica =>
        {
            IFile held;
            using (ImageApp app = CheckpointRun.Start(replica, StateBytes)) CheckpointRun.Checkpoint(replica, app);
            string first = Directory.GetFiles(replica.LogDirectory, "log.1.*").Single();
            held = new PosixFileSystem().Open(first, FileUse.Read);
            Assert.True(held.TryLock(FileLockKind.Shared));
            for (int life = 0; life < 3; life++)
            {
                replica.KillCoordinator();
                using ImageApp app = CheckpointRun.Start(replica, StateBytes);
                CheckpointRun.Checkpoint(replica, app);
            }
            Assert.True(File.Exists(first));
            replica.AwaitLine("who holds it", line => line.Contains("log.1.") && line.Contains("held by a reader"));
            Assert.Equal(1ul, CheckpointRun.Segments(replica)[0]);
            held.Dispose();
            Cluster.Await("the released segment is gone", () => !File.Exists(first), TimeSpan.FromSeconds(60));
            _cluster.AssertNoneGaveUp();
        });

    [Fact]
    public void Checkpoint_ByTime_ComesByItself() => Run(nameof(Checkpoint_ByTime_ComesByItself), replica =>
    {
        replica.Options.AddRange(["--checkpoint-interval", "1s", "--retain", "all"]);
        using ImageApp app = CheckpointRun.Start(replica, StateBytes);
        app.IsBusy = true;
        app.Kick();
        app.RunUntil(() => CheckpointRun.Names(replica).Length >= 3);
        Assert.Equal(1ul, CheckpointRun.Segments(replica)[0]);
        _cluster.AssertNoneGaveUp();
    });

    /// <summary>The oldest segment is the one that holds the page of the oldest checkpoint: nothing below it is left.</summary>
    private static bool IsCoveredFromTheOldest(Replica replica)
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.TryRead(files, replica.LogDirectory)!;
        using CheckpointReader oldest = CheckpointReader.Open(files,
            Path.Combine(replica.LogDirectory, CheckpointRun.Names(replica)[^1]), identity);
        LogChain chain = LogChain.Load(files, replica.LogDirectory, identity);
        return chain.TryFind(oldest.Header.PageLsn, out LogSegment first, out _) && first == chain.Segments[0]
            && CheckpointRun.Segments(replica).Length == chain.Segments.Length;
    }

    private static string[] FilesOf(Replica replica) =>
        [.. Directory.EnumerateFiles(replica.LogDirectory).Select(static path => Path.GetFileName(path)).Order()];

    private static void FlipABit(Replica replica, string checkpoint)
    {
        string path = Path.Combine(replica.LogDirectory, checkpoint);
        byte[] bytes = File.ReadAllBytes(path);
        bytes[bytes.Length / 2] ^= 4;
        File.WriteAllBytes(path, bytes);
    }

    private void Run(string what, Action<Replica> body)
    {
        using Cluster owned = _cluster;
        Replica replica = _cluster.Add("kept", "none");
        _cluster.Run(Cluster.Again(what), () => body(replica));
    }
}
