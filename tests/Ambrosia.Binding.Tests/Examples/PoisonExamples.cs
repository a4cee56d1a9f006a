using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples;

public interface IOrders
{
    [MethodId(1)]
    void Rate(string currency, long perMille);

    [MethodId(2)]
    void Place(string currency, long amount);
}

#region handlers that throw
public sealed partial class Orders : Immortal<IOrders>, IOrders
{
    private readonly Dictionary<string, long> _rates = [];

    internal long Booked { get; private set; }

    public void Rate(string currency, long perMille) => _rates[currency] = perMille;

    // Nobody awaits it: without a rate it throws before it has changed anything, so that it can be tried again.
    public void Place(string currency, long amount) => Booked += amount * _rates[currency] / 1000;
}
#endregion

public sealed class PoisonExamples
{
    [Fact]
    public void Place_WithoutARate_WaitsInQuarantineUntilItIsTriedAgain()
    {
        FakeCoordinator orders = Started<Orders>();
        orders.Deliver(RecordKinds.EncodeWhole(PolicyRecord.Default with { Forks = ForkPolicy.Quarantine }));
        var place = new MessagePlace(orders.Next, 0);
        orders.Deliver(Fork(2, "chf", 100), RecordKinds.EncodeWhole(new QuarantineRecord(place, QuarantineAction.SetAside)),
            Fork(1, "chf", 950));
        Assert.Equal((0, 1), (orders.Immortal<Orders>().Booked, orders.Session.MessagesSetAside));

        orders.Deliver(RecordKinds.EncodeWhole(new QuarantineRecord(place, QuarantineAction.Retry)));
        Assert.Equal((95, 0), (orders.Immortal<Orders>().Booked, orders.Session.MessagesSetAside));
    }
}
