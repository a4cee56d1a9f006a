using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Somebody who debugs has the app's code compiled without optimisation. What it computes must be what the optimised code of then did.
/// </summary>
public sealed class OtherwiseCompiledTests
{
    private const int Readings = 200;

    [Fact]
    public async Task View_OfUnoptimisedCode_AgreesWithDigestsAndCheckpoint()
    {
        using var cluster = new Cluster();
        var chance = new Chance();
        Replica ledger = cluster.Add("ledger", "ledger").Start();
        Replica meter = cluster.Add("meter", "meter").Start();
        meter.AwaitReady();
        await using (ImmortalClient client = await cluster.ConnectAsync("meter"))
        {
            ClientProxy<IMeter> proxy = client.GetProxy<IMeter>();
            for (int i = 0; i < Readings; i++)
                await proxy.MeasureAsync(chance.Below(1_000_000) / 777.7 - 300, $"place {chance.Below(30)}");
        }
        Cluster.Await("a digest of a log that stands still",
            () => Tool.Run("log", meter.LogDirectory, "--records", "--kind", "digest", "--json").Output
                .Contains("digest", StringComparison.Ordinal));
        Signals.Terminate(meter.Coordinator.Id); // with a checkpoint behind the last reading
        meter.AwaitExit();
        ledger.KillCoordinator();
        foreach (string switchedOff in new[] { "DOTNET_ReadyToRun", "DOTNET_TieredCompilation" }) meter.Settings[switchedOff] = "0";
        meter.Settings["DOTNET_JITMinOpts"] = "1";
        using var looked = new LookedAt(meter, checkpoint: Lsn.Zero);
        (Lsn lsn, ulong hash, _) = LookedAt.Published(meter.LogDirectory)[^1];
        Assert.Equal(hash, looked.HashAt(lsn));
        Assert.True(looked.View.Records >= Readings, $"{looked.View.Records} records");
        looked.View.To(new MessagePlace(looked.View.End, 0));
        Assert.True(looked.View.DigestsAgreed > 0, "no digest was compared");
        Assert.Empty(looked.Lines);
        cluster.Passed();
    }
}
