using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A secondary whose state differs while its calls do not is held against the primary's checkpoint, and says which field it is.
/// </summary>
public sealed class StateDifferenceTests
{
    private const int Divergence = 70;

    [Fact]
    public async Task State_BesideALiveSecondary_IsNamedByItsField()
    {
        using var cluster = new Cluster();
        var set = new ReplicaSet(cluster, "erratic", "erratic");
        set.Options.AddRange(["--retain", "all", "--checkpoint-every", "64K", "--checkpoint-interval", "1s"]);
        set.Start(1);
        Replica secondary = set.Add().Start();
        ReplicaSet.AwaitCaughtUp(secondary);
        await using (ImmortalClient client = await ImmortalClient.ConnectAsync(
            cluster.Catalog, "erratic", new ClientOptions { ConnectWithin = Cluster.Patience }))
        {
            ClientProxy<IErratic> proxy = client.GetProxy<IErratic>();
            await proxy.KeepAsync("guid");
            // The same with both. It goes on while the secondary looks for the field.
            while (secondary.IsRunning) await proxy.AnswerAsync("culture");
        }

        Assert.Equal(Divergence, secondary.AwaitExit());
        string line = secondary.AwaitLine("the field", static line => line.StartsWith("DIFFERENT ", StringComparison.Ordinal));
        Assert.Matches(
            """^DIFFERENT in the state alone, between \d+ and \d+: _kept\["guid"\]: .* → .*; which message makes it: ambrosia """, line);

        string typed = line[line.LastIndexOf("ambrosia replay ", StringComparison.Ordinal)..];
        Assert.Contains($" --app '{Executables.App} erratic' --old '{Executables.App} erratic' --until ", typed, StringComparison.Ordinal);
        cluster.Passed();
    }
}
