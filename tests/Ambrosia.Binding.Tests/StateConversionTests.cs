using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Session;
using Ambrosia.Suspension;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>A conversion is a pure function of the old state: it works on a copy, and may do nothing that others would see.</summary>
public sealed class StateConversionTests
{
    private const uint Put = 1;

    [Theory]
    [InlineData("")]
    [InlineData("time")]
    [InlineData("proxy")]
    public void Rehearse_ConversionThatIsAFunction_HasTheImageThatConvertGives(string effect)
    {
        FakeCoordinator first = Filled();
        using var image = new LargeBuffer();
        ImageEnd converted = Conversion(effect).Convert(first.Session.Runtime!, image);

        Assert.Equal(converted, Conversion(effect).Rehearse(first.Session.Runtime!, 1));
        Assert.Equal((long)converted.Length, image.Length);
    }

    [Fact]
    public void Convert_State_IsThatOfTheNewClass()
    {
        FakeCoordinator first = Filled();
        using var image = new LargeBuffer();
        Conversion("proxy").Convert(first.Session.Runtime!, image);
        var second = new FakeCoordinator(ImmortalDefinition.Of<DepotV2>());
        second.Welcome(image.From(0).ToArray(), first.Next.Value);

        Assert.Equal([.. first.Immortal<DepotV1>()._items, "converted"], second.Immortal<DepotV2>()._items);
    }

    /// <summary>The new constructor adds to the list that it takes over, and draws a number: who gives up goes on with neither.</summary>
    [Theory]
    [InlineData("time")]
    [InlineData("throw")]
    [InlineData("fork")]
    public void Convert_WhateverBecomesOfIt_LeavesTheRunningStateAlone(string effect)
    {
        FakeCoordinator first = Filled(), never = Filled();
        using var image = new LargeBuffer();
        Record.Exception(() => Conversion(effect).Convert(first.Session.Runtime!, image));
        first.Deliver(Call(Put, 8, "later"));
        never.Deliver(Call(Put, 8, "later"));

        Assert.Equal(never.Immortal<DepotV1>()._items, first.Immortal<DepotV1>()._items);
        Assert.Equal(never.Said, first.Said);
    }

    [Theory]
    [InlineData("call", "sends")]
    [InlineData("fork", "sends")]
    [InlineData("async", "sets a timer")]
    [InlineData("delay", "sets a timer")]
    [InlineData("every", "sets a timer")]
    [InlineData("swallow", "sets a timer")]
    [InlineData("task", "begins a task")]
    [InlineData("checkpoint", "asks for a checkpoint")]
    public void Convert_WithAnEffect_IsRefusedByName(string effect, string what)
    {
        FakeCoordinator first = Filled();
        using var image = new LargeBuffer();
        NotInConversionException refused =
            Assert.Throws<NotInConversionException>(() => Conversion(effect).Convert(first.Session.Runtime!, image));

        Assert.StartsWith($"A conversion {what}:", refused.Message, StringComparison.Ordinal);
    }

    /// <summary>What is refused to a conversion is refused to it alone.</summary>
    [Fact]
    public void Handler_BehindAConversionThatWasRefused_MayDoAsBefore()
    {
        FakeCoordinator first = Started<TillV1>();
        var conversion = new StateConversion(ImmortalDefinition.Of<TillV1>(), ImmortalDefinition.Of<DepotV2>(),
            static _ => throw new InvalidCastException(), Welcomed(), Options());
        using var image = new LargeBuffer();
        Assert.Throws<InvalidCastException>(() => conversion.Convert(first.Session.Runtime!, image));
        first.Deliver(Call(1, 7, "tea"));

        Assert.Contains(first.Said, static line => line.StartsWith("call bank3", StringComparison.Ordinal));
    }

    [Fact]
    public void Rehearse_ConversionThatAsksTheClock_IsRefused()
    {
        ConversionDiffersException refused =
            Assert.Throws<ConversionDiffersException>(() => Conversion("clock").Rehearse(Filled().Session.Runtime!, 1));

        Assert.Contains("another state when it was repeated; they differ in field DepotV2._seen", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Rehearse_SuspendedMethodWhoseBodyChanged_IsRefusedAsTheNewAppWouldRefuseIt()
    {
        FakeCoordinator first = Started<TillV1>();
        first.Deliver(Call(1, 7, "tea"), Call(2, 8, "tea"));
        var conversion = new StateConversion(ImmortalDefinition.Of<TillV1>(), ImmortalDefinition.Of<TillV2>(),
            static old => new TillV2((TillV1)old), Welcomed(), Options());

        SuspendedCallsChangedException refused =
            Assert.Throws<SuspendedCallsChangedException>(() => conversion.Rehearse(first.Session.Runtime!, 1));
        Assert.Contains("TillV2.Changed(string) at await #0", refused.Message, StringComparison.Ordinal);
    }

    private static FakeCoordinator Filled()
    {
        FakeCoordinator first = Started<DepotV1>();
        first.Deliver(Call(Put, 7, "gold"));
        return first;
    }

    private static StateConversion Conversion(string effect) => new(ImmortalDefinition.Of<DepotV1>(), ImmortalDefinition.Of<DepotV2>(),
        old => new DepotV2((DepotV1)old, effect), Welcomed(), Options());

    private static SessionOptions Options() => new() { Token = new byte[32] };

    private static AppWelcome Welcomed() => new(
        1, new InstanceId("bank1"), "r0", Uuid, new Epoch(3), 7, SizeLimits.MessageBytesMaxDefault, new Lsn(64), false);
}
