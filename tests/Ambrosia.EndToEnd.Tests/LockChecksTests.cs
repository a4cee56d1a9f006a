using Ambrosia.Protocol.Locking;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>The programs that this suite starts check the order of their locks, as the suite itself does.</summary>
public sealed class LockChecksTests
{
    [Fact]
    public void Programs_ThatATestStarts_CheckTheOrderOfLocks()
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger");
        cluster.Run(Cluster.Again(nameof(LockChecksTests)), () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            Cluster.Await("an app", () => ledger.AppId is not null);
            foreach (int process in new[] { ledger.Coordinator.Id, ledger.AppId!.Value })
                Assert.Contains($"{LockChecks.Variable}=1", File.ReadAllText($"/proc/{process}/environ").Split('\0'));
        });
    }
}
