using System.Text.Json;
using System.Text.RegularExpressions;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// The state between two messages of one run, as the console shows it: reached forwards, reached again from behind, and as the app itself
/// writes it down.
/// </summary>
public sealed partial class PlacesInsideRunsTests
{
    private const int PlacesOfARelease = 100, Calls = 2_000, Burst = 50, CommandsAPlace = 4;

    [Fact]
    public void State_InsideARun_IsOneHoweverItIsReachedAndAsTheAppSaysIt()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(State_InsideARun_IsOneHoweverItIsReachedAndAsTheAppSaysIt)), () =>
        {
            (Replica source, Replica ledger) = cluster.Pair(Calls, Burst);
            ledger.Settings["THROW"] = "7";
            ledger.Options.AddRange(["--checkpoint-every", "64K", "--retain", "all"]);
            ledger.Start();
            source.Start();
            Cluster.AssertEqual(source, Calls);
            Signals.Terminate(ledger.Coordinator.Id);
            ledger.AwaitExit();

            int count = TestScale.Rounds(PlacesOfARelease);
            Shown[] forwards = [.. Forwards(cluster, ledger, chance, 3 * count)
                .Where(static shown => shown.Place.Index > 0).DistinctBy(static shown => shown.Place).Take(count)];
            Assert.Equal(count, forwards.Length);
            Assert.True(forwards.Select(static shown => shown.State).Distinct().Count() > count / 2, "the states differ from place to place");
            foreach (Shown shown in forwards) AssertSaysTheSame(shown.Dump, JsonDocument.Parse(shown.State).RootElement.GetProperty("state"));

            chance.Shuffle<Shown>(forwards);
            List<Shown> behind = FromBehind(cluster, ledger, forwards);
            Assert.Equal(forwards.Select(static shown => shown.Place), behind.Select(static shown => shown.Place));
            for (int i = 0; i < count; i++)
                Assert.Equal((forwards[i].State, forwards[i].Dump), (behind[i].State, behind[i].Dump));
            foreach (Shown shown in forwards.Take(TestScale.Rounds(10))) Assert.Equal(shown.State, ByTheTool(ledger, shown.Place));
        });
    }

    /// <summary>Goes through the log once, and stops some messages behind each of so many records.</summary>
    private static List<Shown> Forwards(Cluster cluster, Replica ledger, Chance chance, int stops)
    {
        using var looked = new LookedAt(ledger);
        int end = (int)looked.View.End.Value;
        int[] places = [.. Enumerable.Range(0, stops).Select(_ => chance.Below(end / 2) + end / 8).Distinct().Order()];
        return Console(cluster, ledger,
            places.SelectMany(place => new[] { $"to {place}", $"next {1 + chance.Below(Burst - 1)}", "state", "query Dump()" }));
    }

    private static List<Shown> FromBehind(Cluster cluster, Replica ledger, Shown[] places) => Console(cluster, ledger,
        places.SelectMany(static shown => new[] { "to end", $"to {shown.Place}", "state", "query Dump()" }));

    private static string ByTheTool(Replica ledger, MessagePlace place)
    {
        Tool tool = Tool.Run("state", ledger.LogDirectory, "--at", $"{place}", "--app", string.Join(' ', AppOf(ledger)));
        Assert.True(tool.Code == 0, tool.Error);
        return tool.Output.Trim();
    }

    /// <summary>The app as it was started then.</summary>
    private static string[] AppOf(Replica ledger) =>
        ["env", .. ledger.Settings.Select(static each => $"{each.Key}={each.Value}"), Executables.App, ledger.Role];

    /// <summary>So many commands at a time are given to a process, that each ends in good time on a busy machine.</summary>
    private static List<Shown> Console(Cluster cluster, Replica ledger, IEnumerable<string> commands) =>
        [.. commands.Chunk(20 * CommandsAPlace).SelectMany(some => ConsoleOnce(cluster, ledger, some))];

    private static IEnumerable<Shown> ConsoleOnce(Cluster cluster, Replica ledger, string[] commands)
    {
        string file = Path.Combine(cluster.Root, "commands");
        File.WriteAllLines(file, commands);
        Tool debug = Tool.Debug(["--log", ledger.LogDirectory, "--until", "start", "--commands", file, "--", .. AppOf(ledger)]);
        Assert.True(debug.Code == 0, debug.Output + debug.Error);
        return StateShown().Matches(debug.Output).Select(static match => new Shown(
            new MessagePlace(new Lsn(ulong.Parse(match.Groups[1].Value)), uint.Parse(match.Groups[2].Value)),
            match.Groups[3].Value.Trim(), JsonDocument.Parse(match.Groups[4].Value).RootElement.GetString()!));
    }

    /// <summary>A stop before a message, the state there, and what the app says of it.</summary>
    [GeneratedRegex("""^stopped before (\d+):(\d+) .*\n(\{\n(?:.*\n)*?\}\n)\n?(".*")$""", RegexOptions.Multiline)]
    private static partial Regex StateShown();

    private static void AssertSaysTheSame(string dump, JsonElement state)
    {
        foreach (JsonProperty field in JsonDocument.Parse(dump).RootElement.EnumerateObject())
            Assert.Equal(field.Value.GetRawText(), WithoutSpace().Replace(state.GetProperty(field.Name).GetRawText(), ""));
    }

    [GeneratedRegex("[\\s\"]")]
    private static partial Regex WithoutSpace();

    private sealed record Shown(MessagePlace Place, string State, string Dump);
}
