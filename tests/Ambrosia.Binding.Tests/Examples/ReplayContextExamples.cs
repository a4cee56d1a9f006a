using Ambrosia.Protocol.Records;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples;

public interface ILottery
{
    [MethodId(1)]
    void Enter(string name);

    [MethodId(2)]
    Call Draw(long pauseSeconds);
}

public sealed partial class Lottery : Immortal<ILottery>, ILottery
{
    internal readonly List<string> Said = [];

    #region time and chance
    private readonly SortedDictionary<Guid, (string Name, DateTimeOffset At)> _tickets = [];

    public void Enter(string name)
    {
        _tickets.Add(NewGuid(), (name, Now)); // the time at which this record was logged, on every replica and at every replay
        Logger.Information($"{name} entered, {_tickets.Count} by now"); // silent when the record is executed again
    }

    private string Winner() => _tickets.Values.ElementAt(Random.Next(_tickets.Count)).Name;
    #endregion

    #region timers
    private RecurringTimer _reminder;

    protected override void OnFirstStart() => _reminder = Every(TimeSpan.FromHours(1), Remind); // a method, kept by its name

    public async Call Draw(long pauseSeconds)
    {
        await Delay(TimeSpan.FromSeconds(pauseSeconds)); // may outlive processes, machines and checkpoints
        _reminder.Stop();
        Said.Add($"{Winner()} wins at {Now:HH:mm}");
    }

    private void Remind() => Said.Add($"{_tickets.Count} tickets at {Now:HH:mm}");
    #endregion
}

public interface IShop
{
    [MethodId(1)]
    Call<string> Order(string article, long cents);

    [MethodId(2)]
    Call<int> Plan(List<int> weights);
}

public sealed partial class Shop : Immortal<IShop>, IShop
{
    [NotState]
    internal static readonly AsyncLocal<Bank?> OutsideBank = new();

    internal sealed class Bank
    {
        internal List<string> Charged { get; } = [];

        internal Task<string> Charge(string key, long cents)
        {
            Charged.Add(key);
            return cents > 1000 ? throw new InvalidOperationException("declined") : Task.FromResult($"receipt {Charged.Count}");
        }
    }

    private static Bank bank => OutsideBank.Value!;

    #region tasks
    public async Call<string> Order(string article, long cents)
    {
        try
        {
            // Runs outside of the handlers, in the primary, at least once; its result is logged once. The bank drops keys it knows.
            string receipt = await NondetTask(
                async context => await bank.Charge(context.IdempotencyKey, cents),
                new NondetOptions { Attempts = 3, Deadline = TimeSpan.FromMinutes(1) });
            return $"{article}: {receipt}";
        }
        catch (RemoteCallException e) when (e.TypeName == "System.InvalidOperationException")
        {
            return $"{article}: {e.Message}"; // what the last attempt threw, from the log like a result
        }
    }
    #endregion

    #region task methods
    public async Call<int> Plan(List<int> weights)
    {
        return await NondetMethod(Pack, weights); // heavy work on the thread pool, with a copy of the argument
    }

    private static int Pack(List<int> weights)
    {
        weights.Sort();
        return weights.Aggregate((bins: 1, room: 10),
            (at, weight) => weight <= at.room ? (at.bins, at.room - weight) : (at.bins + 1, 10 - weight)).bins;
    }
    #endregion
}

public sealed class ReplayContextExamples
{
    private const long Hour = 3_600_000_000;

    [Fact]
    public void Lottery_RemindsAndDraws_TheSameEverywhere()
    {
        List<string>? first = null;
        for (int execution = 0; execution < 2; execution++)
        {
            FakeCoordinator lottery = new(ImmortalDefinition.Of<Lottery>());
            lottery.Welcome();
            lottery.DeliverWith(0, 0, FirstStart(), Peer(1, "bank2"), Fork(1, "ann"), Fork(1, "bob"), Fork(1, "cid"), Fork(2, 5400));
            lottery.DeliverWith(0, Hour, Fired(1, Hour));
            lottery.DeliverWith(0, 3 * Hour / 2, Fired(2, 3 * Hour / 2), Fired(1, 2 * Hour));

            List<string> said = lottery.Immortal<Lottery>().Said;
            Assert.Equal("3 tickets at 01:00", said[0]);
            Assert.Matches("^(ann|bob|cid) wins at 01:30$", said[1]);
            Assert.Equal(2, said.Count);
            Assert.Empty(lottery.Logged);
            Assert.Equal(first ??= said, said);
        }
    }

    [Theory]
    [InlineData(500, "book: receipt 1", 1)]
    [InlineData(5000, "book: declined", 3)]
    public async Task Shop_ChargesThroughATask(long cents, string answer, int charges)
    {
        var bank = new Shop.Bank();
        Shop.OutsideBank.Value = bank;
        FakeCoordinator shop = Started<Shop>();
        shop.BecomePrimary();
        shop.DeliverWith(0, shop.Tasks.Micros, Call(1, 7, "book", cents));
        Task run = shop.Tasks.RunNext();
        for (int failed = 1; failed < charges; failed++)
            shop.Tasks.Clock.Advance(await shop.Tasks.NextPause(deadline: TimeSpan.FromSeconds(30)));
        await run.WaitAsync(TimeSpan.FromSeconds(30));
        shop.Listen();
        shop.Deliver(RecordKinds.EncodeWhole(Assert.Single(shop.Results)));

        Assert.Contains($"result bank2 1 #7 '{answer}'", shop.Said);
        Assert.Equal(charges, bank.Charged.Count);
        Assert.Single(bank.Charged.Distinct());
    }

    [Fact]
    public async Task Shop_PlansOutsideOfTheHandlers()
    {
        FakeCoordinator shop = Started<Shop>();
        shop.BecomePrimary();
        shop.Deliver(Call(2, 7, new[] { 7, 5, 5, 3 }));
        await shop.Tasks.RunNext();
        shop.Listen();
        shop.Deliver(RecordKinds.EncodeWhole(Assert.Single(shop.Results)));

        Assert.Contains("result bank2 2 #7 3", shop.Said);
    }
}
