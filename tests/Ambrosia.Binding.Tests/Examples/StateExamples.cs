using System.Collections.Immutable;
using Ambrosia.Protocol;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples.State;

#region state
[Case(1, typeof(Parcel))] // known by number: these classes can be renamed and moved
[Case(2, typeof(Letter))]
public interface IItem;

public sealed record Parcel(int Grams) : IItem;

public sealed record Letter([property: FormerlyNamed("Text")] string Words) : IItem; // checkpoints of earlier builds say Text

[StateSerializer(typeof(RouteSerializer))] // says itself how it is kept: one CBOR item
public readonly record struct Route(ImmutableArray<int> Stops);

public sealed class RouteSerializer : IStateSerializer<Route>
{
    public void Write(ref CborWriter to, Route value) => to.WriteString(string.Join(' ', value.Stops));

    public Route Read(ref CborReader from) => new([.. from.ReadString().Split(' ').Select(int.Parse)]);
}
#endregion

public interface IVan
{
    [MethodId(1)]
    void Load(int grams, string words);
}

public sealed partial class Van : Immortal<IVan>, IVan
{
    internal List<IItem> Items { get; } = [];

    internal Route Route { get; private set; }

    public void Load(int grams, string words)
    {
        Items.Add(new Parcel(grams));
        Items.Add(new Letter(words));
        Route = new Route([1, 2, 3]);
    }
}

public sealed class StateExamples
{
    [Fact]
    public void State_OfTheExample_ComesBack()
    {
        FakeCoordinator first = Started<Van>();
        first.Deliver(Fork(1, 250, "dear Ann"), Mark());
        var second = new FakeCoordinator(ImmortalDefinition.Of<Van>());
        second.Welcome(first.Image);

        Van van = second.Immortal<Van>();
        Assert.Equal([new Parcel(250), new Letter("dear Ann")], van.Items);
        Assert.Equal([1, 2, 3], van.Route.Stops.ToArray());
    }
}
