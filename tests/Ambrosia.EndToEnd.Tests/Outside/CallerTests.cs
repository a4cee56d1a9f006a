using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.EndToEnd.Tests.Examples;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A caller outside and an instance, as processes: what is answered, what fails, and what a key is good for.</summary>
public sealed class CallerTests
{
    private static readonly TimeSpan s_patience = Cluster.Patience;

    [Fact]
    public Task Request_OfEachSort_IsAnswered() => WithBank(async (bank, _) =>
    {
        Assert.Equal(1, await bank.DepositAsync("a").WaitAsync(s_patience));
        Assert.Equal(2, await bank.DepositLaterAsync("b").WaitAsync(s_patience));
        await bank.NoteLogged("c").WaitAsync(s_patience);
        await bank.NoteAsync("d").WaitAsync(s_patience);
        Assert.Equal("1, 1, 1, 1, 0", await Times(bank, "a", "b", "c", "d", "e"));
        byte[] large = [.. Enumerable.Range(0, 3 << 20).Select(static n => (byte)n)];
        Assert.Equal(large, (await bank.EchoAsync(large).WaitAsync(s_patience)).ToArray());
    });

    [Fact]
    public Task Request_WhoseHandlerThrows_FailsAsItDidThere() => WithBank(async (bank, _) =>
    {
        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => bank.RefuseAsync("no").WaitAsync(s_patience));
        Assert.Equal((typeof(ArgumentException).FullName, "no"), (failure.TypeName, failure.Message));
        Assert.Equal("inside", Assert.IsType<RequestFailedException>(failure.InnerException).Message);
    });

    [Fact]
    public Task Key_AskedAgain_HasTheSameAnswerThroughCrashes() => WithBank(async (bank, replica) =>
    {
        long answer = await bank.WithKey("k1").DepositAsync("a").WaitAsync(s_patience);
        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => bank.WithKey("k2").RefuseAsync("once").WaitAsync(s_patience));
        await bank.WithKey("k3").NoteLogged("n").WaitAsync(s_patience);
        for (int round = 0; round < 3; round++)
        {
            Assert.Equal(answer, await bank.WithKey("k1").DepositAsync("a").WaitAsync(s_patience));
            await bank.WithKey("k3").NoteLogged("n").WaitAsync(s_patience);
            RequestFailedException again = await Assert.ThrowsAsync<RequestFailedException>(
                () => bank.WithKey("k2").RefuseAsync("once").WaitAsync(s_patience));
            Assert.Equal(failure.Message, again.Message);
            if (round == 0) replica.KillApp();
            if (round != 1) continue;
            replica.KillCoordinator();
            replica.Start();
        }
        await Assert.ThrowsAsync<KeyReusedException>(() => bank.WithKey("k1").DepositAsync("b").WaitAsync(s_patience));
        Assert.Equal("1, 1, 0", await Times(bank, "a", "n", "b"));
        Assert.NotEqual(answer, await bank.WithKey("k4").DepositAsync("a").WaitAsync(s_patience)); // another key is another request
    });

    /// <summary>One key has one answer: an app that would give another one on replay ends before anybody can ask it.</summary>
    [Fact]
    public Task Start_WhoseReplayAnswersOtherwise_EndsBeforeItIsReady() => WithBank(async (bank, replica) =>
    {
        long answer = await bank.WithKey("k").DepositAsync("a").WaitAsync(s_patience);
        Cluster.Await("the log has rested, and is digested", () => replica.Status()?["digestsCompared"]?.GetValue<long>() > 0);
        replica.KillCoordinator();
        replica.Settings["ANSWERS_MORE"] = "1";
        replica.Start();
        Assert.Equal(70, replica.AwaitExit());
        replica.AwaitLine("its end",
            static line => line.StartsWith("exit 70: the app is not deterministic, or its code was changed: ", StringComparison.Ordinal)
                && line.Contains("the log says 1 answers to callers outside", StringComparison.Ordinal));
        Assert.Null(replica.Lines.Find(static line => line.StartsWith("ready ", StringComparison.Ordinal), replica.StartedAt));
        string noted = File.ReadAllText(Path.Combine(replica.LogDirectory, "divergence.r0"));
        Assert.Contains("the log says 1 answers to callers outside", noted, StringComparison.Ordinal);
        replica.Settings.Remove("ANSWERS_MORE");
        replica.Start();
        Assert.Equal(answer, await bank.WithKey("k").DepositAsync("a").WaitAsync(s_patience));
    });

    [Fact]
    public Task Request_WithoutKeyWhenTheInstanceDies_IsOfUnknownOutcome() => WithBank(async (bank, replica) =>
    {
        Signals.Stop(replica.AppId!.Value);
        Task<long> asked = bank.DepositAsync("a");
        Task<long> keyed = bank.WithKey("k").DepositAsync("b");
        Cluster.Await("both are logged",
            () =>
                Tool.Run("log", replica.LogDirectory, "--records", "--kind", "clientRequest", "--json")
                    .Output.Split("\"key\"").Length == 2);
        Signals.Kill(replica.Coordinator.Id);
        Signals.Continue(replica.AppId!.Value); // only now, or a quick coordinator hands on its answer
        replica.AwaitExit();
        Assert.IsType<OutcomeUnknownException>(await Record.ExceptionAsync(() => asked.WaitAsync(s_patience)));
        replica.Start();
        await keyed.WaitAsync(s_patience);
        Assert.Equal("1, 1", await Times(bank, "a", "b")); // logged, so it took effect, though nobody was told
    });

    [Fact]
    public async Task Connect_ToWhatIsNotThere_SaysWhatItLookedFor()
    {
        using var cluster = new Cluster();
        var hasty = new ClientOptions { ConnectWithin = TimeSpan.FromMilliseconds(200) };
        Directory.CreateDirectory(Path.Combine(cluster.Root, "catalog"));
        TimeoutException none = await Assert.ThrowsAsync<TimeoutException>(
            () => ImmortalClient.ConnectAsync(Path.Combine(cluster.Root, "catalog"), "bank", hasty));
        Assert.Contains("not in the catalog", none.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<ArgumentException>(() => ImmortalClient.ConnectAsync(cluster.Root, "no name"));
        cluster.Passed();
    }

    /// <summary>
    /// Certificates both ways, over a kill and with queries; a caller without one, with a foreign one, or under
    /// another name learns why not.
    /// </summary>
    [Fact]
    public async Task Caller_WithCertificates_IsTakenThroughTls()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        Certified.Give(cluster, bank, Certified.Ours);
        bank.Start();
        await cluster.RunAsync(Cluster.Again(nameof(Caller_WithCertificates_IsTakenThroughTls)), async () =>
        {
            bank.AwaitReady();
            var options = new ClientOptions
            {
                Name = "web", ConnectWithin = s_patience, TlsAuthorities = Write(cluster, "ca.pem", Certified.Ours.Certificate)
            };
            (string certificate, string key) = Certified.Make("web", Certified.Ours);
            ClientOptions own = options with
            {
                TlsCertificate = Write(cluster, "web.pem", certificate), TlsKey = Write(cluster, "web.key", key)
            };
            await using ImmortalClient client = await ConnectExamples.Connect(cluster.Catalog, cluster.Root);
            ClientProxy<IBank> proxy = client.GetProxy<IBank>();
            long answer = await proxy.WithKey("k").DepositAsync("a").WaitAsync(s_patience);
            await proxy.NoteLogged("n").WaitAsync(s_patience);
            bank.KillCoordinator();
            Task<long> again = proxy.WithKey("k").DepositAsync("a");
            bank.Start();
            Assert.Equal(answer, await again.WaitAsync(s_patience));
            Assert.Equal(2, (long)await proxy.TotalAsync().WaitAsync(s_patience));

            ClientRefusedException other = await Assert.ThrowsAsync<ClientRefusedException>(
                () => ImmortalClient.ConnectAsync(cluster.Catalog, "bank", own with { Name = "somebody" }));
            Assert.Contains("which its certificate is not for", other.Message, StringComparison.Ordinal);
            (string foreign, string foreignKey) = Certified.Make("web", Certified.Foreign);
            ClientOptions stranger = own with
            {
                ConnectWithin = TimeSpan.FromSeconds(5), TlsCertificate = Write(cluster, "foreign.pem", foreign),
                TlsKey = Write(cluster, "foreign.key", foreignKey)
            };
            Assert.NotNull(await Record.ExceptionAsync(() => ImmortalClient.ConnectAsync(cluster.Catalog, "bank", stranger)));
            using var enough = new CancellationTokenSource();
            Task<ImmortalClient> plain = ImmortalClient.ConnectAsync(cluster.Catalog, "bank",
                new ClientOptions { Name = "web", ConnectWithin = s_patience }, enough.Token);
            bank.AwaitLine("line about plaintext", static line => line.Contains("(P7.4)", StringComparison.Ordinal));
            await enough.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => plain);
        });
    }

    /// <summary>A primary is killed, another replica goes on: who gave a key has its one answer, and the window came along.</summary>
    [Fact]
    public async Task Caller_OverAFailover_HasTheSameAnswers()
    {
        using var cluster = new Cluster();
        ReplicaSet set = new ReplicaSet(cluster, "bank", "bank").Start(2);
        await cluster.RunAsync(Cluster.Again(nameof(Caller_OverAFailover_HasTheSameAnswers)), async () =>
        {
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank",
                new ClientOptions { ConnectWithin = s_patience });
            ClientProxy<IBank> bank = client.GetProxy<IBank>();
            var answers = new List<long>();
            for (int round = 0; round < 3; round++)
            {
                Replica standby = set.Standby();
                ReplicaSet.AwaitCaughtUp(standby);
                answers.Add(await bank.WithKey($"{round}").DepositLaterAsync($"{round}").WaitAsync(s_patience));
                Task<long>[] during = [.. Enumerable.Range(0, 20).Select(n => bank.WithKey($"{round}/{n}").DepositAsync($"{round}/{n}"))];
                set.Primary().KillCoordinator();
                Assert.Equal(20, (await Task.WhenAll(during).WaitAsync(s_patience)).Distinct().Count());
                Assert.Equal(standby.Options[1], client.Replica);
                for (int n = 0; n <= round; n++)
                    Assert.Equal(answers[n], await bank.WithKey($"{n}").DepositLaterAsync($"{n}").WaitAsync(s_patience));
                set.StartStopped();
            }
            Assert.Equal(63, (long)await bank.TotalAsync().WaitAsync(s_patience));
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>The window's limits are the operator's, in the log of each primary.</summary>
    [Fact]
    public async Task Window_OfOneKey_ForgetsTheOneBefore()
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("bank", "bank");
        replica.Options.AddRange(["--key-count", "1", "--key-window", "1h", "--key-bytes", "1M"]);
        replica.Start();
        await cluster.RunAsync(Cluster.Again(nameof(Window_OfOneKey_ForgetsTheOneBefore)), async () =>
        {
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank",
                new ClientOptions { ConnectWithin = s_patience });
            ClientProxy<IBank> bank = client.GetProxy<IBank>();
            long first = await bank.WithKey("one").DepositAsync("a").WaitAsync(s_patience);
            Assert.Equal(first, await bank.WithKey("one").DepositAsync("a").WaitAsync(s_patience));
            await bank.WithKey("two").DepositAsync("b").WaitAsync(s_patience);
            Assert.NotEqual(first, await bank.WithKey("one").DepositAsync("a").WaitAsync(s_patience)); // a new request by now
        });
    }

    [Theory]
    [InlineData("--key-window", "soon", "is no time")]
    [InlineData("--key-count", "0", "is no count")]
    [InlineData("--key-bytes", "some", "is no size")]
    public void Window_OfWrongLimits_IsRefused(string option, string value, string why)
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("bank", "bank");
        replica.Options.AddRange([option, value]);
        cluster.Run(Cluster.Again(nameof(Window_OfWrongLimits_IsRefused)), () =>
        {
            replica.Start();
            Assert.Equal(2, replica.AwaitExit());
            replica.AwaitLine("the reason", line => line.Contains(why, StringComparison.Ordinal));
            Assert.False(Directory.Exists(replica.LogDirectory));
        });
    }

    private static string Write(Cluster cluster, string name, string text)
    {
        string path = Path.Combine(cluster.Root, name);
        File.WriteAllText(path, text);
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return path;
    }

    private static async Task<string> Times(ClientProxy<IBank> bank, params string[] ids) =>
        string.Join(", ", await bank.TimesOfAsync(ids).WaitAsync(s_patience));

    private static async Task WithBank(
        Func<ClientProxy<IBank>, Replica, Task> body, [System.Runtime.CompilerServices.CallerMemberName] string test = "")
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("bank", "bank").Start();
        await cluster.RunAsync(Cluster.Again(test), async () =>
        {
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank",
                new ClientOptions { ConnectWithin = s_patience });
            await body(client.GetProxy<IBank>(), replica);
        });
    }
}
