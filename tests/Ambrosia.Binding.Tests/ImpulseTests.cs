using Ambrosia.Protocol;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

public sealed class ImpulseTests
{
    private readonly FakeCoordinator coordinator = Started<Bank>();

    private Bank Bank => coordinator.Immortal<Bank>();

    [Fact]
    public void BecomingPrimary_Runs_ThenAnswers()
    {
        Bank.OnPrimary = self => self.UserInputFork("early");
        coordinator.Deliver(Fork(1, "a", 1));
        coordinator.Said.Clear();

        coordinator.BecomePrimary();

        Assert.True(Bank.SawPrimary);
        Assert.Equal([$"primary at {coordinator.Next}", "impulse bank1 11 ticket 1 'early'"], coordinator.Said);
    }

    [Fact]
    public void Impulse_FromAnotherThread_CarriesTicketsAndKeys()
    {
        coordinator.BecomePrimary();
        IBankProxy self = Bank.Self;
        OnAnotherThread(() =>
        {
            self.UserInputFork("one");
            self.TickFork();
            self.UserInputFork("key", "two");
            self.UserInputFork("three");
        });
        coordinator.Said.Clear();
        coordinator.Listen();

        Assert.Equal(
            ["impulse bank1 11 ticket 1 'one'", "impulse bank1 12 ticket 2", "impulse bank1 11 ticket 3 key 6B6579 'two'",
                "impulse bank1 11 ticket 4 'three'"],
            coordinator.Said.Where(line => line.StartsWith("impulse", StringComparison.Ordinal)));
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
        coordinator.BecomePrimary();
        IBankProxy self = Bank.Self;
        coordinator.Listen();
        Task first = SendAsync(self, "one");
        Task second = self.TickAsync().AsTask();
        coordinator.Listen();
        Assert.False(first.IsCompleted);

        coordinator.Send(new ImpulseLogged(0, 1));
        await first.WaitAsync(TimeSpan.FromSeconds(30));
        Assert.False(second.IsCompleted);
        coordinator.Send(new ImpulseLogged(0, 2));
        await second.WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public async Task Impulse_Unlogged_FailsWhenTheSessionEnds()
    {
        coordinator.BecomePrimary();
        Task sent = SendAsync(Bank.Self, "one");
        coordinator.Send(new Goodbye(GoodbyeCode.CleanStop, "bye"));

        var unknown = await Assert.ThrowsAsync<ImpulseOutcomeUnknownException>(() => sent);
        Assert.Contains("not known whether this impulse was logged: bye", unknown.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => Bank.Self.TickFork()); // this one was surely not sent
    }

    [Fact]
    public void Impulse_Arrives_RunsHandler()
    {
        coordinator.Deliver(Run(MessageKind.Impulse, 0, (11, 0, Cbor.Of("hello"))));

        Assert.Equal("hello", Bank.LastInput);
    }

    [Fact]
    public void Impulse_BeforePrimary_IsRefused()
    {
        var refused = Assert.Throws<InvalidOperationException>(() => Bank.Self.UserInputFork("x"));
        Assert.Contains("BecomingPrimary", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void OrdinaryMethod_OutsideHandlers_IsRefused()
    {
        coordinator.BecomePrimary();
        var refused = Assert.Throws<InvalidOperationException>(() => Bank.Self.DepositFork("a", 1));
        Assert.Contains("[ImpulseHandler]", refused.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => Bank.Self.BalanceAsync("a"));
    }

    [Fact]
    public void GetProxy_OnAnotherThread_IsRefused()
    {
        coordinator.BecomePrimary();
        InvalidOperationException? refused = null;
        OnAnotherThread(() => refused = Assert.Throws<InvalidOperationException>(() => Bank.Proxy("bank9")));
        Assert.Contains("GetProxy", refused!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Ticket_NeverSent_IsAViolation()
    {
        coordinator.BecomePrimary();
        Bank.Self.TickFork();
        coordinator.Send(new ImpulseLogged(0, 2));

        Assert.Contains("P5.9", coordinator.Session.End!.Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Key_OfWrongLength_IsRefused()
    {
        coordinator.BecomePrimary();
        Assert.Throws<ArgumentException>(() => Bank.Self.TickFork(""));
        Assert.Throws<ArgumentException>(() => Bank.Self.TickFork(new byte[129]));
    }

    [Fact]
    public void Impulses_OverTheBound_AreRefusedWithoutAPump()
    {
        coordinator.BecomePrimary();
        IBankProxy self = Bank.Self;
        string line = new('x', 400_000);
        self.UserInputFork(line);
        self.UserInputFork(line);
        Assert.Throws<InvalidOperationException>(() => self.UserInputFork(line));

        coordinator.Said.Clear();
        coordinator.Listen();
        self.UserInputFork("room again");
        coordinator.Listen();
        Assert.Equal(3, coordinator.Said.Count(each => each.StartsWith("impulse bank1 11 ticket", StringComparison.Ordinal)));
        Assert.Equal("impulse bank1 11 ticket 3 'room again'", coordinator.Said[^1]);
    }

    [Fact]
    public void BecomingPrimary_Throws_EndsTheSession()
    {
        Bank.OnPrimary = _ => throw new FormatException("no console");
        coordinator.BecomePrimary();

        Assert.Equal(GoodbyeCode.AppFailed, coordinator.Session.End!.Code);
        Assert.Contains("no console", coordinator.Said[^1], StringComparison.Ordinal);
    }

    private static async Task SendAsync(IBankProxy proxy, string line) => await proxy.UserInputAsync(line);

    private static void OnAnotherThread(Action act)
    {
        var thread = new Thread(() => act());
        thread.Start();
        thread.Join();
    }
}
