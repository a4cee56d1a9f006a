using System.Globalization;
using System.Text.Json.Nodes;
using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A checkpoint that is whole, and that the app cannot restore: an older one serves, with the log behind it, and the file stays. Where none
/// is left the coordinator ends and says what to do. No app is started for it again and again.
/// </summary>
public sealed class UnrestorableCheckpointTests
{
    private const string UnreadableFrom = "UNREADABLE_FROM", PassedOver = "is passed over: the app cannot restore it";

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public Task Start_WhoseNewestCheckpointCannotBeRestored_BeginsWithTheOneBefore(bool isHost) => RunAsync(async cluster =>
    {
        Replica strict = isHost ? cluster.AddHost("strict", "strict") : cluster.Add("strict", "strict");
        string newest = await FillAsync(cluster, strict);
        strict.KillCoordinator();
        strict.Settings[UnreadableFrom] = "15";
        strict.Start().AwaitReady();
        string line = strict.AwaitLine("the event", static line => line.Contains(PassedOver, StringComparison.Ordinal));
        Assert.StartsWith($"checkpoint {newest} ", line, StringComparison.Ordinal);
        Assert.Contains(": field Strict._sums: Sum cannot be restored: ", line, StringComparison.Ordinal);
        Assert.EndsWith("a sum of 15 is too high", line, StringComparison.Ordinal);
        JsonNode told = Assert.Single(strict.Status()!["checkpoint"]!["unrestorable"]!.AsArray())!;
        Assert.Equal(newest, (string?)told["name"]);
        Tool status = Tool.Run("status", "--catalog", cluster.Catalog);
        Assert.Contains($"the app could not restore {newest}", status.Output + status.Error, StringComparison.Ordinal);
        Assert.Equal(17, await AddAsync(cluster, 1));
        Assert.True(File.Exists(Path.Combine(strict.LogDirectory, newest)));

        strict.KillCoordinator();
        strict.Settings.Remove(UnreadableFrom);
        strict.Start().AwaitReady();
        Assert.Equal(18, await AddAsync(cluster, 1)); // the build that wrote it goes on with it
        Assert.Empty(strict.Status()!["checkpoint"]!["unrestorable"]!.AsArray());
    });

    /// <summary>
    /// It is read back before it counts: none is published, and all who ask hear of it as an error, until the state can be in one.
    /// </summary>
    [Fact]
    public Task Checkpoint_ThatDoesNotReadBack_IsNoneAndStatusAndStopFail() => RunAsync(async cluster =>
    {
        const string refused = "field Strict._sums: Sum cannot be restored: ";
        Replica strict = cluster.Add("strict", "strict");
        strict.Settings[UnreadableFrom] = "15";
        strict.Start().AwaitReady();
        await AddAsync(cluster, 5);
        Checkpoint(strict);
        string sound = Assert.Single(Checkpoints(strict));
        await AddAsync(cluster, 10);
        Tool asked = Tool.Run("checkpoint", strict.LogDirectory);
        Assert.True(asked.Code != 0 && asked.Error.Contains(refused, StringComparison.Ordinal), $"{asked.Code}: {asked.Output}{asked.Error}");
        Tool status = Tool.Run("status", "--catalog", cluster.Catalog);
        Assert.True(status.Code == 1 && (status.Output + status.Error).Contains(refused, StringComparison.Ordinal),
            $"{status.Code}: {status.Output}{status.Error}");
        Assert.Equal(sound, Assert.Single(Checkpoints(strict)));

        Tool stop = Tool.Run("stop", strict.LogDirectory);
        Assert.True(stop.Code == 1 && (stop.Output + stop.Error).Contains(refused, StringComparison.Ordinal),
            $"{stop.Code}: {stop.Output}{stop.Error}");
        Assert.Equal(sound, Assert.Single(Checkpoints(strict)));

        strict.Settings.Remove(UnreadableFrom);
        strict.Start().AwaitReady();
        Assert.Equal(16, await AddAsync(cluster, 1));
        Checkpoint(strict);
        Assert.Equal(0, Tool.Run("status", "--catalog", cluster.Catalog).Code);
    });

    [Fact]
    public Task Standby_ThatCannotRestoreTheNewestCheckpoint_FollowsFromTheOneBeforeAndTakesOver() => RunAsync(async cluster =>
    {
        var set = new ReplicaSet(cluster, "strict", "strict");
        Replica primary = set.Add();
        string newest = await FillAsync(cluster, primary);
        Replica standby = set.Add();
        standby.Settings[UnreadableFrom] = "15";
        standby.Start();
        standby.AwaitLine("the event", line => line.StartsWith($"checkpoint {newest} {PassedOver}", StringComparison.Ordinal));
        ReplicaSet.AwaitCaughtUp(standby);
        primary.KillCoordinator();
        standby.AwaitReady();
        Assert.Equal(17, await AddAsync(cluster, 1));
    });

    /// <summary>Its log begins behind its beginning, and the app restores none of the checkpoints.</summary>
    [Fact]
    public Task Start_WithNoCheckpointThatCanBeRestored_EndsWithTwoAndSaysWhatToDo() => RunAsync(async cluster =>
    {
        Replica strict = cluster.Add("strict", "strict");
        strict.Options.AddRange(["--segment", "2M"]);
        await FillAsync(cluster, strict, new byte[900_000]);
        Checkpoint(strict);
        Cluster.Await("a log whose beginning is gone", () => (ulong?)strict.Status()?["log"]?["oldest"] > 0);
        strict.KillCoordinator();
        string[] before = Checkpoints(strict);
        strict.Settings[UnreadableFrom] = "1";
        strict.Start();
        Assert.Equal(2, strict.AwaitExit());
        string end = strict.AwaitLine("the end",
            static line => line.Contains("no checkpoint is left that the app can restore", StringComparison.Ordinal));
        Assert.Contains("Start the build that wrote the newest one", end, StringComparison.Ordinal);
        Assert.All(before, name => Assert.Contains(name, end, StringComparison.Ordinal));
        Assert.Equal(before, Checkpoints(strict));
    });

    /// <summary>Who looks at the past with such a build is told, and sees it from an older checkpoint.</summary>
    [Theory]
    [InlineData("state")]
    [InlineData("replay")]
    [InlineData("debug")]
    public Task View_ThatCannotRestoreTheNewestCheckpoint_BeginsWithAnOlderOneAndSaysSo(string command) => RunAsync(async cluster =>
    {
        Replica strict = cluster.Add("strict", "strict");
        string newest = await FillAsync(cluster, strict);
        Assert.Equal(17, await AddAsync(cluster, 1));
        strict.KillCoordinator();
        Tool sound = Look([Executables.App, "strict"]), tool = Look(["env", $"{UnreadableFrom}=15", Executables.App, "strict"]);
        Assert.DoesNotContain("cannot be restored", sound.Error + sound.Output, StringComparison.Ordinal);
        Assert.True(sound.Code == tool.Code, tool.Error + tool.Output);
        Assert.Contains(newest, tool.Error + tool.Output, StringComparison.Ordinal);
        Assert.Contains("a sum of 15 is too high", tool.Error + tool.Output, StringComparison.Ordinal);

        Tool Look(string[] app) => command switch
        {
            "debug" => Tool.Debug(["--log", strict.LogDirectory, "--until", "end", "--commands", "/dev/null", "--", .. app]),
            "state" => Tool.Run("state", strict.LogDirectory, "--at", "end", "--app", string.Join(' ', app), "--path", "_sums"),
            _ => Tool.Run("replay", strict.LogDirectory, "--from", newest.Split('.')[1], "--app", string.Join(' ', app)),
        };
    });

    /// <summary>Two checkpoints, of 5 and of 15, and one call behind; returns the name of the newer one.</summary>
    private static async Task<string> FillAsync(Cluster cluster, Replica strict, byte[]? filling = null)
    {
        strict.Start().AwaitReady();
        await AddAsync(cluster, 5, filling);
        Checkpoint(strict);
        for (int i = 0; i < 10; i++) await AddAsync(cluster, 1, filling);
        Checkpoint(strict);
        string newest = Checkpoints(strict)[^1];
        await AddAsync(cluster, 1);
        return newest;
    }

    private static void Checkpoint(Replica replica)
    {
        Tool tool = Tool.Run("checkpoint", replica.LogDirectory);
        Assert.True(tool.Code == 0, tool.Error);
    }

    private static string[] Checkpoints(Replica replica) =>
        [.. Directory.GetFiles(replica.LogDirectory, "ckpt.*").Select(static path => Path.GetFileName(path))
            .OrderBy(static name => ulong.Parse(name.Split('.')[1], CultureInfo.InvariantCulture))];

    private static async Task<long> AddAsync(Cluster cluster, long cents, byte[]? filling = null)
    {
        await using ImmortalClient client = await cluster.ConnectAsync("strict");
        return await client.GetProxy<IStrict>().AddAsync(cents, filling ?? []);
    }

    private static async Task RunAsync(Func<Cluster, Task> body, [System.Runtime.CompilerServices.CallerMemberName] string test = "")
    {
        using var cluster = new Cluster();
        await cluster.RunAsync(Cluster.Again(test), () => body(cluster));
    }
}
