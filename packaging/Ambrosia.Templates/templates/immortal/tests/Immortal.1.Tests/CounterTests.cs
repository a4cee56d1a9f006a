using Ambrosia.Client;

namespace Immortal._1.Tests;

/// <summary>Calls the immortals from outside, and kills them in between. Logs and catalog are in a folder of the test.</summary>
public sealed class CounterTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("immortal-").FullName;

    private string Catalog => Path.Combine(_folder, "catalog");

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Add_RepeatedAfterAKill_IsAddedOnce()
    {
        using RunningImmortal auditor = Start("Auditor");
        using (RunningImmortal counter = Start("Counter"))
        {
            Assert.Equal(60, await Add("first", 60));
            Assert.Equal(120, await Add("second", 60));
            counter.Kill();
        }
        using RunningImmortal again = Start("Counter");
        Assert.Equal(120, await Add("second", 60));
        Assert.Equal(250, await Add("third", 130));
        await AwaitHeard(100, 200);
    }

    [Fact]
    public async Task Auditor_ThatIsDead_HearsWhenItIsBack()
    {
        using RunningImmortal counter = Start("Counter");
        Assert.Equal(100, await Add("first", 100));
        using RunningImmortal auditor = Start("Auditor");
        await AwaitHeard(100);
    }

    private RunningImmortal Start(string name) =>
        new($"Immortal.1.{name}", Path.Combine(_folder, name.ToLowerInvariant()));

    private async Task<long> Add(string key, long amount)
    {
        await using ImmortalClient client = await ImmortalClient.ConnectAsync(Catalog, "counter");
        return await client.GetProxy<ICounter>().WithKey(key).AddAsync(amount);
    }

    /// <summary>Waits until the auditor has heard of these hundreds, and of no other.</summary>
    private async Task AwaitHeard(params long[] hundreds)
    {
        await using ImmortalClient client = await ImmortalClient.ConnectAsync(Catalog, "auditor");
        ClientProxy<IAuditor> auditor = client.GetProxy<IAuditor>();
        using var limit = new CancellationTokenSource(TimeSpan.FromMinutes(1));
        long[] heard;
        while ((heard = await auditor.HeardAsync(limit.Token)).Length < hundreds.Length) await Task.Delay(20, limit.Token);
        Assert.Equal(hundreds, heard);
    }
}
