using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A caller outside and an instance, as processes: what is answered, what fails, and what a key is good for.</summary>
public sealed class CallerTests
{
    private static readonly TimeSpan patience = Cluster.Patience;

    [Fact]
    public Task Request_OfEachSort_IsAnswered() => WithBank(async (bank, _) =>
    {
        Assert.Equal(1, await bank.DepositAsync("a").WaitAsync(patience));
        Assert.Equal(2, await bank.DepositLaterAsync("b").WaitAsync(patience));
        await bank.NoteForkAsync("c").WaitAsync(patience);
        await bank.NoteAsync("d").WaitAsync(patience);
        Assert.Equal("1, 1, 1, 1, 0", await Times(bank, "a", "b", "c", "d", "e"));
        byte[] large = [.. Enumerable.Range(0, 3 << 20).Select(static n => (byte)n)];
        Assert.Equal(large, (await bank.EchoAsync(large).WaitAsync(patience)).ToArray());
    });

    [Fact]
    public Task Request_WhoseHandlerThrows_FailsAsItDidThere() => WithBank(async (bank, _) =>
    {
        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => bank.RefuseAsync("no").WaitAsync(patience));
        Assert.Equal((typeof(ArgumentException).FullName, "no"), (failure.TypeName, failure.Message));
        Assert.Equal("inside", Assert.IsType<RequestFailedException>(failure.InnerException).Message);
    });

    [Fact]
    public Task Key_AskedAgain_HasTheSameAnswerThroughCrashes() => WithBank(async (bank, replica) =>
    {
        long answer = await bank.WithKey("k1").DepositAsync("a").WaitAsync(patience);
        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => bank.WithKey("k2").RefuseAsync("once").WaitAsync(patience));
        await bank.WithKey("k3").NoteForkAsync("n").WaitAsync(patience);
        for (int round = 0; round < 3; round++)
        {
            Assert.Equal(answer, await bank.WithKey("k1").DepositAsync("a").WaitAsync(patience));
            await bank.WithKey("k3").NoteForkAsync("n").WaitAsync(patience);
            RequestFailedException again = await Assert.ThrowsAsync<RequestFailedException>(() => bank.WithKey("k2").RefuseAsync("twice").WaitAsync(patience));
            Assert.Equal(failure.Message, again.Message);
            if (round == 0) replica.KillApp();
            if (round != 1) continue;
            replica.KillCoordinator();
            replica.Start();
        }
        Assert.Equal("1, 1", await Times(bank, "a", "n"));
        Assert.NotEqual(answer, await bank.WithKey("k4").DepositAsync("a").WaitAsync(patience)); // another key is another request
    });

    [Fact]
    public Task Request_WithoutKeyWhenTheInstanceDies_IsOfUnknownOutcome() => WithBank(async (bank, replica) =>
    {
        Signals.Stop(replica.AppId!.Value);
        Task<long> asked = bank.DepositAsync("a");
        Task<long> keyed = bank.WithKey("k").DepositAsync("b");
        Cluster.Await("both are logged", () => Tool.Run("log", replica.LogDirectory, "--records", "--kind", "clientRequest", "--json").Output.Split("\"key\"").Length == 2);
        Signals.Continue(replica.AppId!.Value);
        replica.KillCoordinator();
        Assert.IsType<OutcomeUnknownException>(await Record.ExceptionAsync(() => asked.WaitAsync(patience)));
        replica.Start();
        await keyed.WaitAsync(patience);
        Assert.Equal("1, 1", await Times(bank, "a", "b")); // logged, so it took effect, though nobody was told
    });

    [Fact]
    public async Task Connect_ToWhatIsNotThere_SaysWhatItLookedFor()
    {
        using var cluster = new Cluster();
        var hasty = new ClientOptions { ConnectWithin = TimeSpan.FromMilliseconds(200) };
        Directory.CreateDirectory(Path.Combine(cluster.Root, "catalog"));
        TimeoutException none = await Assert.ThrowsAsync<TimeoutException>(() => ImmortalClient.ConnectAsync(Path.Combine(cluster.Root, "catalog"), "bank", hasty));
        Assert.Contains("not in the catalog", none.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<ArgumentException>(() => ImmortalClient.ConnectAsync(cluster.Root, "no name"));
        cluster.Passed();
    }

    private static async Task<string> Times(ClientProxy<IBank> bank, params string[] ids) => string.Join(", ", await bank.TimesOfAsync(ids).WaitAsync(patience));

    private static async Task WithBank(Func<ClientProxy<IBank>, Replica, Task> body, [System.Runtime.CompilerServices.CallerMemberName] string test = "")
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("bank", "bank").Start();
        await cluster.RunAsync(Cluster.Again(test), async () =>
        {
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", new ClientOptions { ConnectWithin = patience });
            await body(client.GetProxy<IBank>(), replica);
        });
    }
}
