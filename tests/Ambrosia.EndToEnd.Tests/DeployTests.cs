namespace Ambrosia.EndToEnd.Tests;

/// <summary>What stands in deploy/ fits the programs: the app finds its coordinator by what its unit says.</summary>
public sealed class DeployTests
{
    [Fact]
    public void Units_OfCoordinatorAndApp_BringTheTwoTogether()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "ledger");
        cluster.Run(Cluster.Again(nameof(DeployTests)), () =>
        {
            Assert.Contains($"--log {Path.Combine("/var/lib/ambrosia", "bank")} ", Value("ambrosia-coordinator@.service", "ExecStart"),
                StringComparison.Ordinal);
            string[] variables =
                Value("ambrosia-app@.service", "Environment").Replace("/var/lib/ambrosia", cluster.Root, StringComparison.Ordinal).Split(' ');
            string app = Assert.Single(variables, static each =>
                each.StartsWith("AMBROSIA_APP=", StringComparison.Ordinal))["AMBROSIA_APP=".Length..];
            string token =
                Assert.Single(variables, static each =>
                    each.StartsWith("AMBROSIA_TOKEN=", StringComparison.Ordinal))["AMBROSIA_TOKEN=".Length..];
            bank.Start(withApp: false);
            bank.AwaitLine("the app's channel", line => line.Contains($"app channel {app}, token {token}", StringComparison.Ordinal));
            bank.StartApp(app, token);
            bank.AwaitReady();
        });
    }

    /// <summary>Codes after which nothing is started again are those of which docs/operating.md says that starting again will not
    /// help.</summary>
    [Fact]
    public void Units_AfterCodesThatStartingAgainDoesNotMend_StayDown()
    {
        Assert.Equal("2 65 70 76", Value("ambrosia-coordinator@.service", "RestartPreventExitStatus"));
        Assert.Equal("2", Value("ambrosia-app@.service", "RestartPreventExitStatus"));
    }

    private static string Value(string unit, string name)
    {
        string folder = AppContext.BaseDirectory;
        while (!Directory.Exists(Path.Combine(folder, "deploy"))) folder = Path.GetDirectoryName(folder)
            ?? throw new DirectoryNotFoundException("deploy");
        string line = File.ReadLines(Path.Combine(folder, "deploy", "systemd", unit))
            .Single(each => each.StartsWith(name + "=", StringComparison.Ordinal));
        return line[(name.Length + 1)..].Replace("%i", "bank", StringComparison.Ordinal);
    }
}
