using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

public sealed class ImpulseTests
{
    private readonly FakeCoordinator _coordinator = Started<Bank>();

    private Bank Bank => _coordinator.Immortal<Bank>();

    [Fact]
    public void BecomingPrimary_Runs_ThenAnswers()
    {
        Bank.OnPrimary = self => self.UserInputFork("early");
        _coordinator.Deliver(Fork(1, "a", 1));
        _coordinator.Said.Clear();

        _coordinator.BecomePrimary();

        Assert.True(Bank.SawPrimary);
        Assert.Equal([$"primary at {_coordinator.Next}", "impulse bank1 11 ticket 1 'early'"], _coordinator.Said);
    }

    [Fact]
    public void Impulse_FromAnotherThread_CarriesTicketsAndKeys()
    {
        _coordinator.BecomePrimary();
        IBankProxy self = Bank.Self;
        OnAnotherThread(() =>
        {
            self.UserInputFork("one");
            self.TickFork();
            self.WithKey("key").UserInputFork("two");
            self.UserInputFork("three");
        });
        _coordinator.Said.Clear();
        _coordinator.Listen();

        Assert.Equal(
            ["impulse bank1 11 ticket 1 'one'", "impulse bank1 12 ticket 2", "impulse bank1 11 ticket 3 key 6B6579 'two'",
                "impulse bank1 11 ticket 4 'three'"],
            _coordinator.Said.Where(line => line.StartsWith("impulse", StringComparison.Ordinal)));
    }

    [Fact]
    public void Impulse_FromThreadOfBecomingPrimary_UsesTheProxyOfItself()
    {
        FakeCoordinator listening = Started<Listener>();
        listening.BecomePrimary();
        listening.Immortal<Listener>().Thread!.Join();
        listening.Listen();

        Assert.Contains("impulse bank1 1 ticket 1 'typed'", listening.Said);
    }

    [Fact]
    public async Task Impulse_Awaited_CompletesWhenLogged()
    {
        _coordinator.BecomePrimary();
        IBankProxy self = Bank.Self;
        _coordinator.Listen();
        Task first = SendAsync(self, "one");
        Task second = self.TickLogged().AsTask();
        _coordinator.Listen();
        Assert.False(first.IsCompleted);

        _coordinator.Send(new ImpulseLogged(0, 1));
        await first.WaitAsync(TimeSpan.FromSeconds(30));
        Assert.False(second.IsCompleted);
        _coordinator.Send(new ImpulseLogged(0, 2));
        await second.WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public async Task Impulse_Unlogged_FailsWhenTheSessionEnds()
    {
        _coordinator.BecomePrimary();
        Task sent = SendAsync(Bank.Self, "one");
        _coordinator.Send(new Goodbye(GoodbyeCode.CleanStop, "bye"));

        var unknown = await Assert.ThrowsAsync<ImpulseOutcomeUnknownException>(() => sent);
        Assert.Contains("not known whether this impulse was logged: bye", unknown.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => Bank.Self.TickFork()); // this one was surely not sent
    }

    [Fact]
    public void Impulse_Arrives_RunsHandler()
    {
        _coordinator.Deliver(Run(MessageKind.Impulse, 0, (11, 0, Cbor.Of("hello"))));

        Assert.Equal("hello", Bank.LastInput);
    }

    [Fact]
    public void Impulse_BeforePrimary_IsRefused()
    {
        var refused = Assert.Throws<BindingMisuseException>(() => Bank.Self.UserInputFork("x"));
        Assert.Contains("BecomingPrimary", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void OrdinaryMethod_OutsideHandlers_IsRefused()
    {
        _coordinator.BecomePrimary();
        var refused = Assert.Throws<BindingMisuseException>(() => Bank.Self.DepositFork("a", 1));
        Assert.Contains("[ImpulseHandler]", refused.Message, StringComparison.Ordinal);
        Assert.Throws<BindingMisuseException>(() => Bank.Self.BalanceAsync("a"));
    }

    [Fact]
    public void Answer_OfAnImpulse_IsNotAwaitedOutsideHandlers()
    {
        _coordinator.BecomePrimary();
        var refused = Assert.Throws<BindingMisuseException>(() => Bank.Self.UserInputAsync("x"));
        Assert.Contains("…Logged", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void GetProxy_OnAnotherThread_IsRefused()
    {
        _coordinator.BecomePrimary();
        InvalidOperationException? refused = null;
        OnAnotherThread(() => refused = Assert.Throws<BindingMisuseException>(() => Bank.Proxy("bank9")));
        Assert.Contains("GetProxy", refused!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Ticket_NeverSent_IsAViolation()
    {
        _coordinator.BecomePrimary();
        Bank.Self.TickFork();
        _coordinator.Send(new ImpulseLogged(0, 2));

        Assert.Contains("P5.9", _coordinator.Session.End!.Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Key_OfWrongLength_IsRefused()
    {
        _coordinator.BecomePrimary();
        Assert.Throws<MisusedArgumentException>(() => Bank.Self.WithKey("").TickFork());
        Assert.Throws<MisusedArgumentException>(() => Bank.Self.WithKey(new byte[129]).TickFork());
    }

    [Fact]
    public void Key_WithHalfASurrogate_IsRefused()
    {
        _coordinator.BecomePrimary();
        foreach (string key in (string[])["\ud83d-1", "1-\udc00", "\udc00\ud83d"])
        {
            Assert.Contains("half of a surrogate pair",
                Assert.Throws<MisusedArgumentException>(() => Bank.Self.WithKey(key).TickFork()).Message, StringComparison.Ordinal);
        }
        Bank.Self.WithKey("\ud83d\ude00").TickFork();
    }

    [Fact]
    public void Impulses_OverTheBound_AreRefusedWithoutAPump()
    {
        _coordinator.BecomePrimary();
        IBankProxy self = Bank.Self;
        string line = new('x', 400_000);
        self.UserInputFork(line);
        self.UserInputFork(line);
        Assert.Throws<InvalidOperationException>(() => self.UserInputFork(line));

        _coordinator.Said.Clear();
        _coordinator.Listen();
        self.UserInputFork("room again");
        _coordinator.Listen();
        Assert.Equal(3, _coordinator.Said.Count(each => each.StartsWith("impulse bank1 11 ticket", StringComparison.Ordinal)));
        Assert.Equal("impulse bank1 11 ticket 3 'room again'", _coordinator.Said[^1]);
    }

    [Fact]
    public void BecomingPrimary_Throws_EndsTheSession()
    {
        Bank.OnPrimary = _ => throw new FormatException("no console");
        _coordinator.BecomePrimary();

        Assert.Equal(GoodbyeCode.AppFailed, _coordinator.Session.End!.Code);
        Assert.Contains("no console", _coordinator.Said[^1], StringComparison.Ordinal);
    }

    private static async Task SendAsync(IBankProxy proxy, string line) => await proxy.UserInputLogged(line);

    private static void OnAnotherThread(Action act)
    {
        var thread = new Thread(() => act());
        thread.Start();
        thread.Join();
    }
}
