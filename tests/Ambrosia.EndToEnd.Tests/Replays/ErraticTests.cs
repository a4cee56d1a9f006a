using System.Text.Json;
using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// What the analyzers would have refused is found when it runs: a replay, the restart of a lone replica, and a live secondary name the
/// call, the answer or the field that differs.
/// </summary>
public sealed class ErraticTests
{
    private const int Divergence = 70;

    /// <summary>One log holds all mistakes, and one replay finds each of them at its own message.</summary>
    [Fact]
    public async Task Mistakes_InAReplay_AreEachNamed()
    {
        using var cluster = new Cluster();
        Replica erratic = await StartAsync(cluster, async proxy =>
        {
            foreach (string mistake in Erratic.Mistakes) await proxy.CallAsync(mistake);
        });
        erratic.KillCoordinator();

        Tool tool = Tool.Run("replay", erratic.LogDirectory, "--app", $"env POINT=, {Executables.App} erratic", "--json", "--stop-at", "100");

        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.Equal(Erratic.Mistakes.Select(static each => $"IErratic.Call(mistake: \"{each}\")"), Named(tool));
        Assert.Equal(Erratic.Mistakes.Select(static each => $"IErratic.Told(mistake: \"{each}\", outcome: "),
            Differences(tool).Select(static each => each.GetProperty("now").GetString()!).Select(static now =>
                now[now.IndexOf("IErratic", StringComparison.Ordinal)..(now.IndexOf("outcome: ", StringComparison.Ordinal) + 9)]));
        cluster.Passed();
    }

    /// <summary>
    /// The same build is not the same twice: its answers are named, and the field of the state that is another first. Some of them: each is
    /// looked for with two apps.
    /// </summary>
    [Fact]
    public async Task AnswersAndState_BesideTheSameBuild_AreNamed()
    {
        string[] some = [.. Erratic.Mistakes.Take(TestScale.Rounds(Erratic.Mistakes.Count()))];
        using var cluster = new Cluster();
        Replica erratic = await StartAsync(cluster, async proxy =>
        {
            foreach (string mistake in some) await proxy.AnswerAsync(mistake);
            foreach (string mistake in some) await proxy.KeepAsync(mistake);
        });
        erratic.KillCoordinator();
        string app = $"{Executables.App} erratic";

        Tool tool = Tool.Run("replay", erratic.LogDirectory, "--app", $"env POINT=, LATE=3 {app}", "--old", app, "--json", "--stop-at", "100");

        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.Equal(some.Select(static each => $"IErratic.Answer(mistake: \"{each}\")")
            .Append($"IErratic.Keep(mistake: \"{some[0]}\")"), Named(tool));
        Assert.StartsWith($"_kept[\"{some[0]}\"]: ", Differences(tool).Last().GetProperty("state")[0].GetString(), StringComparison.Ordinal);
        cluster.Passed();
    }

    /// <summary>
    /// What differed once does not differ when its message is looked for: the difference is told all the same, at the place up to which
    /// both did the same, and be that the log's beginning, where there is no state yet.
    /// </summary>
    [Fact]
    public async Task Answer_ThatDiffersOnce_IsToldWithoutItsMessage()
    {
        using var cluster = new Cluster();
        Replica erratic = await StartAsync(cluster, async proxy =>
        {
            await proxy.AnswerAsync(Erratic.Once);
            await proxy.AnswerAsync("culture"); // the same with both, and states that the one before it is durable
        });
        erratic.KillCoordinator();
        string app = $"{Executables.App} erratic", once = Path.Combine(cluster.Root, "once");

        Tool tool = Tool.Run("replay", erratic.LogDirectory, "--app", $"env ONCE={once} {app}", "--old", app, "--json", "--stop-at", "100");

        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        JsonElement difference = Assert.Single(Differences(tool));
        Assert.False(difference.GetProperty("exact").GetBoolean());
        Assert.EndsWith("= \"as ever\"", difference.GetProperty("then").GetString(), StringComparison.Ordinal);
        Assert.EndsWith("= \"the first time\"", difference.GetProperty("now").GetString(), StringComparison.Ordinal);
        cluster.Passed();
    }

    /// <summary>Some of them: each costs two starts of two processes.</summary>
    [Fact]
    public async Task Mistakes_AtTheRestartOfALoneReplica_EndItAndAreNamed()
    {
        string[] all = [.. Erratic.Mistakes];
        int taken = TestScale.Rounds(all.Length);
        foreach (string mistake in Enumerable.Range(0, taken).Select(each => all[each * all.Length / taken]))
        {
            using var cluster = new Cluster();
            Replica erratic = await StartAsync(cluster, async proxy => await proxy.CallAsync(mistake));
            Cluster.Await("the log has rested, and is digested", () => erratic.Status()?["digestsCompared"]?.GetValue<long>() > 0);
            erratic.KillCoordinator();
            erratic.Settings["POINT"] = ",";
            erratic.Start();

            AssertItEnds(erratic, mistake);
            cluster.Passed();
        }
    }

    /// <summary>
    /// A secondary executes what the primary has executed, and ends by the next digest. Some of them, others than above: each costs two
    /// replicas.
    /// </summary>
    [Fact]
    public async Task Mistakes_BesideALiveSecondary_EndItAndAreNamed()
    {
        string[] all = [.. Erratic.Mistakes];
        int taken = TestScale.Rounds(all.Length);
        for (int each = 0; each < taken; each++)
        {
            string mistake = all[(each * all.Length / taken + 1) % all.Length];
            using var cluster = new Cluster();
            (Replica secondary, ClientProxy<IErratic> proxy, ImmortalClient client) = await StartBothAsync(cluster);
            await using (client) await proxy.CallAsync(mistake);

            AssertItEnds(secondary, mistake);
            cluster.Passed();
        }
    }

    /// <summary>
    /// The state alone differs, which a checkpoint of the primary shows: the field is named, and the command that is printed names the
    /// message.
    /// </summary>
    [Fact]
    public async Task State_BesideALiveSecondary_IsNamedByItsFieldAndItsMessage()
    {
        using var cluster = new Cluster();
        (Replica secondary, ClientProxy<IErratic> proxy, ImmortalClient client) = await StartBothAsync(
            cluster, "--checkpoint-every", "64K", "--checkpoint-interval", "1s");
        await using (client)
        {
            await proxy.KeepAsync("guid");
            while (secondary.IsRunning) await proxy.AnswerAsync("culture"); // the same with both, also while the field is looked for
        }

        Assert.Equal(Divergence, secondary.AwaitExit());
        secondary.AwaitLine("its end", static line => line.StartsWith("exit 70: the app's image at log position ", StringComparison.Ordinal)
            && line.Contains("though all calls so far were the same", StringComparison.Ordinal));
        string line = secondary.AwaitLine("the field", static line => line.StartsWith("DIFFERENT ", StringComparison.Ordinal));
        Assert.Matches(
            """^DIFFERENT in the state alone, between \d+ and \d+: _kept\["guid"\]: .* → .*; which message makes it: ambrosia replay """,
            line);
        string arguments = line[(line.LastIndexOf("ambrosia ", StringComparison.Ordinal) + "ambrosia".Length)..];
        Tool tool = Tool.Of("sh", ["-c", $"exec {Executables.Ambrosia}{arguments} --json"]);
        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.Equal("IErratic.Keep(mistake: \"guid\")", Assert.Single(Named(tool)));
        cluster.Passed();
    }

    /// <summary>Starts a primary and a secondary, which has caught up.</summary>
    private static async Task<(Replica Secondary, ClientProxy<IErratic> Proxy, ImmortalClient Client)> StartBothAsync(
        Cluster cluster, params string[] options)
    {
        var set = new ReplicaSet(cluster, "erratic", "erratic");
        set.Options.AddRange(["--retain", "all", .. options]);
        set.Start(1);
        Replica secondary = set.Add();
        if (options.Length == 0) secondary.Settings["POINT"] = ","; // the variable itself is a mistake that calls show
        secondary.Start();
        ReplicaSet.AwaitCaughtUp(secondary);
        ImmortalClient client = await cluster.ConnectAsync("erratic");
        return (secondary, client.GetProxy<IErratic>(), client);
    }

    /// <summary>It ends as one whose calls differ, and says which message makes which call.</summary>
    private static void AssertItEnds(Replica replica, string mistake)
    {
        Assert.Equal(Divergence, replica.AwaitExit());
        replica.AwaitLine("its end", static line => line.StartsWith("exit 70: the app is not deterministic", StringComparison.Ordinal));
        PrintedCommand printed = PrintedCommand.Of(replica, "DIFFERENT at ");
        Assert.Contains($"IErratic.Call(mistake: \"{mistake}\")", printed.Line, StringComparison.Ordinal);
        Assert.Contains($"IErratic.Told(mistake: \"{mistake}\", outcome: ", printed.Line, StringComparison.Ordinal);
    }

    /// <summary>Returns the messages that differ, as they were called; whole where they are none of these.</summary>
    private static IEnumerable<string> Named(Tool tool) =>
        Differences(tool).Select(static each => each.GetProperty("message").GetString()!).Select(static message =>
            message.IndexOf("IErratic", StringComparison.Ordinal) is >= 0 and var at
                ? message[at..(message.IndexOf(')', StringComparison.Ordinal) + 1)] : message);

    private static JsonElement.ArrayEnumerator Differences(Tool tool) => tool.Json.GetProperty("differences").EnumerateArray();

    private static async Task<Replica> StartAsync(Cluster cluster, Func<ClientProxy<IErratic>, Task> calls)
    {
        Replica erratic = cluster.Add("erratic", "erratic").Start();
        erratic.AwaitReady();
        await using ImmortalClient client = await cluster.ConnectAsync("erratic");
        await calls(client.GetProxy<IErratic>());
        return erratic;
    }
}
