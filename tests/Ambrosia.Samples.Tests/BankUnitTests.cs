using WebBank;

namespace Ambrosia.Samples.Tests;

/// <summary>Tests the bank of the sample as a plain class: without a process, a log or a coordinator.</summary>
public sealed class BankUnitTests
{
    [Fact]
    public void Transfer_OfMoreThanThereIs_ThrowsAndMovesNothing()
    {
        var bank = new Bank();
        bank.Deposit("ann", 100);
        Assert.Throws<NotEnoughException>(() => bank.Transfer("ann", "bob", 101));
        Assert.Equal(100, bank.Look("ann").Cents);
    }

    [Fact]
    public async Task Remit_AtTheRateOfTheExchange_PaysAndReportsIt()
    {
        var outside = new TestSession { Begin = new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.Zero) };
        Bank bank = outside.Make(static () => new Bank());
        bank.Deposit("ann", 1000);

        Call<Receipt> remitting = bank.Remit("ann", "carl", 400, "CHF");
        RecordedCall rate = Assert.Single(outside.Calls);
        Assert.Equal(("exchange", "Rate", "CHF"), (rate.To, rate.Method, rate.Arguments[0]));
        rate.Answer(950L);
        Assert.Single(outside.Tasks).Answer("paid, no. 7");

        Receipt receipt = await remitting;
        Assert.Equal((380, "CHF", "paid, no. 7", outside.Now), (receipt.Amount, receipt.Currency, receipt.Confirmation, receipt.At));
        Assert.Equal("IExchange(exchange).Sold(CHF, 380)", outside.Calls[^1].ToString());
        Assert.Equal(600, bank.Look("ann").Cents);
    }

    [Fact]
    public async Task Remit_WhereTheNetworkRefuses_GivesTheMoneyBack()
    {
        var bank = new Bank();
        TestSession outside = TestSession.Of(bank);
        bank.Deposit("ann", 1000);
        Call<Receipt> remitting = bank.Remit("ann", "carl", 400, "CHF");
        outside.Calls[0].Answer(950L);
        outside.Tasks[0].Fail(new ArgumentException("no such account"));
        await Assert.ThrowsAsync<InvalidOperationException>(async () => await remitting);
        Assert.Equal(1000, bank.Look("ann").Cents);
    }

    [Fact]
    public void TransferLater_CalledOff_MovesNothing()
    {
        var bank = new Bank();
        bank.Deposit("ann", 100);
        Call transfer = bank.TransferLater("ann", "bob", 60, 10);
        Assert.Equal(1, bank.CallOff("ann"));
        TestSession.Of(bank).Advance(TimeSpan.FromSeconds(10));
        Assert.True(transfer.IsCompleted);
        Assert.Equal(100, bank.Look("ann").Cents);
    }
}
