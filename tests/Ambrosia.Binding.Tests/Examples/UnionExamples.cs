using System.Collections;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples;

#region union
[Case(1, typeof(Card))]
[Case(2, typeof(Cash))]
public interface IPayment;

[Data]
public sealed record Card(string Number) : IPayment;

[Data]
public sealed record Cash(long Cents) : IPayment;

public interface ICashier
{
    Call<IPayment> Pay(IPayment with, List<IPayment> before);
}
#endregion

/// <summary>It is no case: the numbers above do not name it.</summary>
public sealed record Voucher : IPayment;

public sealed partial class Cashier : Immortal<ICashier>, ICashier
{
    internal List<IPayment> Taken { get; } = [];

    internal string Failed { get; private set; } = "";

    public async Call<IPayment> Pay(IPayment with, List<IPayment> before)
    {
        Taken.Add(with);
        Taken.AddRange(before);
        if (with is Cash { Cents: 0 }) return new Voucher();
        if (with is Cash) return with;
        try
        {
            ICashierProxy bank = GetProxy<ICashier>("bank3");
            return await bank.PayAsync(with, before);
        }
        catch (RemoteCallException failure)
        {
            Failed = $"{failure.TypeName}: {failure.Message}";
            throw;
        }
    }
}

public sealed class UnionExamples
{
    private static readonly uint s_pay = MethodIds.Of("ICashier", "Pay");
    private readonly FakeCoordinator _coordinator = Started<Cashier>();

    private Cashier Cashier => _coordinator.Immortal<Cashier>();

    private static object Card(string number) => new object[] { 1, new Hashtable { ["Number"] = number } };

    private static object Cash(long cents) => new object[] { 2, new Hashtable { ["Cents"] = cents } };

    private string Last => _coordinator.Said.Last(static line => !line.StartsWith("processed", StringComparison.Ordinal));

    [Fact]
    public void Union_OfEachCase_ArrivesAndIsSentOn()
    {
        _coordinator.Deliver(Call(s_pay, 7, Cash(5), new[] { Card("1"), Cash(3) }));
        Assert.Equal([new Cash(5), new Card("1"), new Cash(3)], Cashier.Taken);
        Assert.Equal($"result bank2 {s_pay} #7 {Cbor.Text(Cbor.Of(Cash(5)))}", Last);

        _coordinator.Deliver(Call(s_pay, 8, Card("2"), Array.Empty<object>()));
        Assert.Equal($"call bank3 {s_pay} #1 {Cbor.Text(Cbor.Of(Card("2"), Array.Empty<object>()))}", Last);
        _coordinator.Deliver(Result(s_pay, 1, 2, Cash(9)));
        Assert.Equal($"result bank2 {s_pay} #8 {Cbor.Text(Cbor.Of(Cash(9)))}", Last);
    }

    [Fact]
    public void Argument_OfAnUnknownCase_FailsByItsNameBeforeTheHandler()
    {
        _coordinator.Deliver(Call(s_pay, 7, Cash(5), new[] { new object[] { 3, new Hashtable() } }));

        Assert.Empty(Cashier.Taken);
        Assert.Contains("'Ambrosia.UnknownCase'", Last, StringComparison.Ordinal);
        Assert.Contains($"'{typeof(IPayment).FullName} has no case 3 in this version of the contract.'", Last, StringComparison.Ordinal);
    }

    [Fact]
    public void Result_OfAnUnknownCase_FailsWhoeverAwaitsIt()
    {
        _coordinator.Deliver(Call(s_pay, 7, Card("2"), Array.Empty<object>()));
        _coordinator.Deliver(Result(s_pay, 1, 2, [new object[] { 3, new Hashtable() }]));

        Assert.Equal(
            $"{FailureNames.UnknownCase}: {typeof(IPayment).FullName} has no case 3 in this version of the contract.", Cashier.Failed);
    }

    [Fact]
    public void Value_OfNoCase_IsRefusedWhereItIsSent()
    {
        _coordinator.Deliver(Call(s_pay, 7, Cash(0), Array.Empty<object>()));

        Assert.Contains("'Ambrosia.BadResult'", Last, StringComparison.Ordinal);
    }
}
