using System.Diagnostics;

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

    /// <summary>
    /// Two containers, as far as namespaces make them: each sees its own processes, network and mounts, and they share the two volumes that
    /// the page names. Each of the two ends and comes back alone.
    /// </summary>
    [MountFact]
    public void Containers_OfCoordinatorAndApp_FindEachOtherByTheirVolumes()
    {
        const string app = "unix:/run/app/bank.sock", token = "/log/bank/app.r0.token", mounted = "/mnt";
        string page = File.ReadAllText(Place("README.md"));
        foreach (string said in new[] { "--log /log/bank --app-socket /run/app/bank.sock", $"AMBROSIA_APP={app}", $"AMBROSIA_TOKEN={token}" })
            Assert.Contains(said, page, StringComparison.Ordinal);
        using var cluster = new Cluster();
        Replica bank = cluster.Adopt(new Replica(mounted + "/log", "bank", "ledger") { WorkingDirectory = cluster.Root });
        bank.Options.AddRange(["--app-socket", "/run/app/bank.sock"]);
        string[] volumes = [.. new[] { "log", "app" }.Select(each => Directory.CreateDirectory(
            Path.Combine(cluster.Root, each), (UnixFileMode)0x1C0).FullName)];
        string mounts = $"mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs {mounted} && mkdir /run/app {mounted}/log && mount --bind {volumes[1]} /run/app && mount --bind {volumes[0]} {mounted}/log";
        string[] container = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc", "--uts",
            "sh", "-c", $"ip link set lo up && {mounts} && exec \"$@\"", "container"];
        cluster.Run(Cluster.Again(nameof(DeployTests)), () =>
        {
            bank.Start(null, withApp: false, container);
            Process first = bank.StartApp(app, mounted + token, container);
            bank.AwaitReady();
            Signals.Kill(first.Id);
            first.WaitForExit();
            int ended = bank.Lines.Count;
            bank.StartApp(app, mounted + token, container);
            bank.Lines.Await("another app", static line => line.StartsWith("ready ", StringComparison.Ordinal), ended, Cluster.Patience);
            bank.KillCoordinator();
            bank.Start(null, withApp: false, container);
            bank.StartApp(app, mounted + token, container);
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

    private static string Place(string file)
    {
        string folder = AppContext.BaseDirectory;
        while (!Directory.Exists(Path.Combine(folder, "deploy"))) folder = Path.GetDirectoryName(folder)
            ?? throw new DirectoryNotFoundException("deploy");
        return Path.Combine(folder, "deploy", file);
    }

    private static string Value(string unit, string name)
    {
        string line = File.ReadLines(Place(Path.Combine("systemd", unit)))
            .Single(each => each.StartsWith(name + "=", StringComparison.Ordinal));
        return line[(name.Length + 1)..].Replace("%i", "bank", StringComparison.Ordinal);
    }
}
