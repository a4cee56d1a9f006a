using Ambrosia.MethodBodies;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Session;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>What is suspended when a version is raised goes on in the body that the new class keeps for it.</summary>
public sealed class KeptBodyTests
{
    private const uint Price = 1, Changed = 2;

    [Fact]
    public void Method_WhoseBodyTheNewClassKeeps_GoesOnInItAndNewCallsDoNot()
    {
        FakeCoordinator first = Started<TillV1>();
        first.Deliver(Call(Changed, 7, "tea"));
        using var image = new LargeBuffer();
        StateConversion conversion = Conversion();
        conversion.Convert(first.Session.Runtime!, image);
        var second = new FakeCoordinator(ImmortalDefinition.Of<KeepingTill>());
        second.Welcome(image.From(0).ToArray(), first.Next.Value);
        second.Deliver(Call(Changed, 8, "tea"));
        second.Deliver(Mark(bound: 1));
        var third = new FakeCoordinator(ImmortalDefinition.Of<KeepingTill>()); // both bodies are in its image
        third.Welcome(second.Image, second.Next.Value);

        foreach (FakeCoordinator each in (FakeCoordinator[])[second, third])
        {
            each.Deliver(Result(Price, 1, 2, 5));
            each.Deliver(Result(Price, 2, 2, 6));
            Assert.Contains("result bank2 2 #7 6", each.Said);
            Assert.Contains("result bank2 2 #8 1006", each.Said);
        }
    }

    [Fact]
    public void Rehearse_SuspendedMethodWhoseBodyIsKept_IsWhatConvertGives()
    {
        FakeCoordinator first = Started<TillV1>();
        first.Deliver(Call(Changed, 7, "tea"));
        using var image = new LargeBuffer();
        ImageEnd converted = Conversion().Convert(first.Session.Runtime!, image);

        Assert.Equal(converted, Conversion().Rehearse(first.Session.Runtime!, 1));
    }

    /// <summary>Nobody calls a kept body: the contract is the interface's.</summary>
    [Fact]
    public void KeptBody_IsNoPartOfTheContract() => Assert.All(
        Contracts.StatedContracts.Of(typeof(KeepingTill)),
        static manifest => Assert.DoesNotContain(
            "ChangedOfVersion1", System.Text.Encoding.UTF8.GetString(manifest), StringComparison.Ordinal));

    /// <summary>The body of the method's own name comes first: what goes back to an old body is continued where it is called.</summary>
    [Fact]
    public void Body_ThatTheMethodHasAgain_IsItsOwn()
    {
        MethodBodyRow now = Row("Shop.Charge():Call", "old"), kept = Row("Shop.ChargeBefore():Call", "old") with { FormerOf = now.Id };
        var known = new KnownMethodBodies([kept, now]);

        Assert.Same(now, known.WithBody(now.Id, "old"));
        Assert.Same(kept, new KnownMethodBodies([kept, now with { Il = "new" }]).WithBody(now.Id, "old"));
        Assert.Null(known.WithBody(now.Id, "other"));
    }

    private static MethodBodyRow Row(string id, string il) => new(id, id, il, "", [], []);

    private static StateConversion Conversion() => new(ImmortalDefinition.Of<TillV1>(), ImmortalDefinition.Of<KeepingTill>(),
        static old => new KeepingTill((TillV1)old),
        new AppWelcome(1, new InstanceId("bank1"), "r0", Uuid, new Epoch(3), 7, SizeLimits.MessageBytesMaxDefault, new Lsn(64), false),
        new SessionOptions { Token = new byte[32] });
}
