using Ambrosia.Log.Checkpoints;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>How much history a real coordinator keeps under each policy, and who may ask for a checkpoint.</summary>
public sealed class RetainTests
{
    private const int StateBytes = 64 << 10;

    private readonly Cluster _cluster = new();

    /// <summary>
    /// Within the span everything stays, however many checkpoints that is; when it has passed, one that is older
    /// than the span is the oldest.
    /// </summary>
    [Fact]
    public void Retain_Span_KeepsWhatIsYoungerAndOneThatIsOlder() => Run("--retain", "span=6s", replica =>
    {
        using ImageApp app = CheckpointRun.Start(replica, StateBytes);
        string first = CheckpointRun.Checkpoint(replica, app);
        string[] taken = [first, .. Enumerable.Range(0, 3).Select(_ => CheckpointRun.Checkpoint(replica, app))];
        // a machine that stood still proves nothing
        if (Age(replica, first) < TimeSpan.FromSeconds(5)) Assert.Equal(taken.Reverse(), CheckpointRun.Names(replica));
        Cluster.Await("the span has passed", () => Age(replica, taken[^1]) > TimeSpan.FromSeconds(7));
        string next = CheckpointRun.Checkpoint(replica, app);
        Cluster.Await("what is older has gone", () => CheckpointRun.Names(replica).SequenceEqual([next, taken[^1]]));
    });

    /// <summary>
    /// Restarts begin segments and checkpoints pass them by; nothing goes, and the log can be read from its first record.
    /// </summary>
    [Fact]
    public void Retain_All_KeepsEverything() => Run("--retain", "all", replica =>
    {
        var taken = new List<string>();
        for (int life = 0; life < 4; life++)
        {
            using (ImageApp app = CheckpointRun.Start(replica, StateBytes)) taken.Add(CheckpointRun.Checkpoint(replica, app));
            replica.KillCoordinator();
        }
        Assert.Equal(taken.AsEnumerable().Reverse(), CheckpointRun.Names(replica));
        Assert.Equal([1ul, 2, 3, 4], CheckpointRun.Segments(replica));
        Tool verify = Tool.Run("verify", replica.LogDirectory, "--json");
        Assert.Equal(0, verify.Code);
        Assert.Equal(0, verify.Json.GetProperty("from").GetInt64());
    });

    [Fact]
    public void Retain_CheckpointsN_KeepsSoMany() => Run("--retain", "checkpoints=3", replica =>
    {
        string[] taken = new string[5];
        using ImageApp app = CheckpointRun.Start(replica, StateBytes);
        for (int i = 0; i < taken.Length; i++) taken[i] = CheckpointRun.Checkpoint(replica, app);
        Cluster.Await("the others have gone", () => CheckpointRun.Names(replica).SequenceEqual(taken.Reverse().Take(3)));
    });

    /// <summary>Neither bytes nor time ask for it.</summary>
    [Fact]
    public void Checkpoint_AppAsksForIt_IsTaken() => Run("--checkpoint-every", "1G", replica =>
    {
        using ImageApp app = CheckpointRun.Start(replica, StateBytes);
        Assert.Empty(CheckpointRun.Names(replica));
        app.AskForCheckpoint();
        app.RunUntil(() => CheckpointRun.Names(replica).Length == 1);
        Assert.Equal(1, app.Images);
    });

    [Fact]
    public void Checkpoint_AfterSoManyBytes_IsTaken() => Run("--checkpoint-every", "256K", replica =>
    {
        using ImageApp app = CheckpointRun.Start(replica, StateBytes);
        app.IsBusy = true;
        app.Kick();
        app.RunUntil(() => CheckpointRun.Names(replica).Length == 2 && app.Images > 2);
        ulong[] places = [.. CheckpointRun.Names(replica).Select(static name => CheckpointFileName.Parse(name)!.Lsn.Value)];
        Assert.True(places[0] - places[1] >= 256 << 10, $"{places[1]} and then {places[0]}");
    });

    private static TimeSpan Age(Replica replica, string checkpoint) =>
        DateTime.UtcNow - File.GetLastWriteTimeUtc(Path.Combine(replica.LogDirectory, checkpoint));

    private void Run(string option, string value, Action<Replica> body)
    {
        using Cluster owned = _cluster;
        Replica replica = _cluster.Add("kept", "none");
        replica.Options.AddRange([option, value]);
        _cluster.Run(Cluster.Again($"{nameof(RetainTests)}"), () =>
        {
            body(replica);
            _cluster.AssertNoneGaveUp();
        });
    }
}
