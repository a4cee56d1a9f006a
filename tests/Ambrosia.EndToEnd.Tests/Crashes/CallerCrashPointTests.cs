using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>At every step on the way to callers outside a coordinator dies, and who gave a key sees nothing of it but delay.</summary>
public sealed class CallerCrashPointTests
{
    private const int Rounds = 40;

    public static IEnumerable<object[]> Rows =>
        CrashPoints.Callers.SelectMany(static point => new[] { 1, 7 }.Select(pass => new object[] { point, pass }));

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task Coordinator_DiesOnTheWayToACaller_CallerSeesEachOnce(string point, int pass)
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        bank.Options.AddRange(["--checkpoint-every", "64K"]);
        await cluster.RunAsync(Cluster.Again(point), async () =>
        {
            bank.Start(crashAt: $"{point}:{pass}");
            await using ImmortalClient client = await cluster.ConnectAsync("bank");
            Task<(string Id, long Place)[]> calls = Call(client.GetProxy<IBank>());
            Assert.Equal(Signals.KilledExitCode, bank.AwaitExit());
            bank.Start();
            (string Id, long Place)[] told = await calls.WaitAsync(Cluster.Patience);
            int[] times = await client.GetProxy<IBank>()
                .TimesOfAsync([.. told.Select(static each => each.Id), .. told.Select(static each => "note " + each.Id)])
                .WaitAsync(Cluster.Patience);
            Assert.All(times, static each => Assert.Equal(1, each));
            Assert.Equal(told.Length, told.Select(static each => each.Place).Distinct().Count());
        });
    }

    private static async Task<(string, long)[]> Call(ClientProxy<IBank> bank)
    {
        var told = new List<(string, long)>();
        for (int n = 0; n < Rounds; n++)
        {
            string id = $"{n}";
            await bank.WithKey(id).NoteLogged("note " + id);
            long place = n % 2 == 0 ? await bank.WithKey(id).DepositAsync(id) : await bank.WithKey(id).DepositLaterAsync(id);
            told.Add((id, place));
        }
        return [.. told];
    }
}
