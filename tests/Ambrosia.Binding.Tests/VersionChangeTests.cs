using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Session;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>An app that carries two versions, as its coordinator sees it (protocol P5.25).</summary>
public sealed class VersionChangeTests
{
    private const uint Put = 1, Sell = 1, Changed = 2;

    [Fact]
    public void Hello_OfTwoVersions_StatesTheLowest()
    {
        var app = new FakeCoordinator(ImmortalDefinition.Of<DepotV2>()) { Former = Depots("") };
        app.Session.TryTakeOutput(out ReadOnlyMemory<byte> bytes);
        Assert.Equal(
            DecodeStatus.Ok, FrameReader.TryRead(bytes.Span, 0, 4096, false, out _, out ReadOnlySpan<byte> payload, out _));
        AppHello hello = AppHello.Read(payload);
        Assert.Equal((2u, 1u), (hello.AppVersion, hello.LowestVersion));
    }

    [Fact]
    public void Image_ThenSwitch_GoesOnAsTheNextVersionWithThatState()
    {
        FakeCoordinator app = Filled(Depots(""));
        Convert(app, ConversionUse.Image);
        ulong hash = ChannelHash.Append(0, app.Image);
        Assert.Equal(2, Items(app).Count); // the running one has what it had
        Convert(app, ConversionUse.Switch);
        Assert.Equal((hash, (ulong)app.Image.Length), (app.Converted!.Hash, app.Converted.Length));
        app.Deliver(Upgrade());
        DepotV2 depot = app.Immortal<DepotV2>();
        Assert.Equal("converted", depot._items[^1]);
        Assert.StartsWith("upgraded from 1 ", depot._seen, StringComparison.Ordinal);
        Assert.Contains(app.Said, static line => line.StartsWith("fork bank3", StringComparison.Ordinal));
        app.Deliver(Call(Put, 9, "silver"));
        Assert.StartsWith("silver ", depot._items[^1], StringComparison.Ordinal);
    }

    /// <summary>Whoever finds the record without the checkpoint converts there, and has the same image.</summary>
    [Fact]
    public void Switch_Alone_HasTheSameState()
    {
        FakeCoordinator first = Filled(Depots("")), second = Filled(Depots(""));
        Convert(first, ConversionUse.Image);
        Convert(second, ConversionUse.Switch);
        Assert.Equal(ChannelHash.Append(0, first.Image), second.Converted!.Hash);
        second.Deliver(Upgrade());
        Convert(first, ConversionUse.Switch);
        first.Deliver(Upgrade());
        Assert.Equal(first.Immortal<DepotV2>()._seen, second.Immortal<DepotV2>()._seen);
    }

    /// <summary>Reading an image gives its memory back as it goes; what is sent must be whole nevertheless.</summary>
    [Fact]
    public void Image_OfAFewMegabytes_IsTheOneThatItsEndStates()
    {
        FakeCoordinator app = Filled(Depots(""));
        for (int i = 0; i < 40; i++) app.Deliver(Call(Put, (ulong)(100 + i), new string('x', 100_000)));
        Convert(app, ConversionUse.Image); // the coordinator's side checks length and hash
        Assert.True(app.Image.Length > 4_000_000);
        Convert(app, ConversionUse.Switch);
        Assert.Equal(ChannelHash.Append(0, app.Image), app.Converted!.Hash);
    }

    [Theory]
    [InlineData("fork", "A conversion sends")]
    [InlineData("throw", "System.FormatException: no such amount")]
    public void Image_ThatCannotBe_IsRefusedAndTheVersionBeforeGoesOn(string effect, string why)
    {
        FakeCoordinator app = Filled(Depots(effect)), never = Filled(Depots(effect));
        Convert(app, ConversionUse.Image);
        Assert.Contains(why, app.Said[^1], StringComparison.Ordinal);
        foreach (FakeCoordinator each in new[] { app, never })
        {
            each.BecomePrimary();
            each.Deliver(Call(Put, 9, "silver"));
        }
        Assert.Equal(Items(never), Items(app));
    }

    [Fact]
    public void Rehearsal_ThatWorks_ChangesNothing()
    {
        FakeCoordinator app = Filled(Depots("")), never = Filled(Depots(""));
        app.Send(new ConvertFrame(Lsn.Zero, 1, 2, ConversionUse.Rehearsal));
        Assert.Equal($"converted at {app.Next} for Rehearsal", app.Said[^1]);
        app.Deliver(Call(Put, 9, "silver"));
        never.Deliver(Call(Put, 9, "silver"));
        Assert.Equal(Items(never), Items(app));
        Assert.Equal(never.Said, app.Said.Where(static line => !line.StartsWith("converted", StringComparison.Ordinal)));
    }

    [Fact]
    public void Rehearsal_WhileACallIsSuspendedInAChangedMethod_NamesIt()
    {
        FakeCoordinator app = Begun<TillV2>(FormerVersion.Of<TillV1, TillV2>());
        app.Deliver(Call(Changed, 8, "tea"));
        app.Send(new ConvertFrame(Lsn.Zero, 1, 2, ConversionUse.Rehearsal));
        Assert.Contains("TillV2.Changed(string) at await #0", app.Said[^1], StringComparison.Ordinal);
    }

    [Fact]
    public void Switch_WhileACallIsSuspended_LetsItGoOnInTheNextVersion()
    {
        FakeCoordinator app = Begun<TillV2>(FormerVersion.Of<TillV1, TillV2>());
        app.Deliver(Call(Sell, 8, "tea"));
        Convert(app, ConversionUse.Switch);
        app.Deliver(Upgrade());
        app.Deliver(Peer(2, "bank3"), Result(1, 1, 2, 5), Result(1, 2, 2, 6));
        Assert.Contains(app.Said, static line => line.EndsWith("44", StringComparison.Ordinal)); // (5 + 6) times the factor of version 2
    }

    [Theory]
    [InlineData(1, 3)]
    [InlineData(2, 3)]
    public void Conversion_OfOtherVersions_BreaksTheProtocol(uint from, uint to)
    {
        FakeCoordinator app = Filled(Depots(""));
        app.Send(new ConvertFrame(Lsn.Zero, from, to, ConversionUse.Rehearsal));
        Assert.Equal(GoodbyeCode.ProtocolViolation, app.Session.End!.Code);
    }

    [Fact]
    public void UpgradeRecord_ForTheVersionBefore_IsNotExecuted()
    {
        FakeCoordinator app = Filled(Depots(""));
        app.Deliver(Upgrade());
        Assert.Equal(GoodbyeCode.ProtocolViolation, app.Session.End!.Code);
    }

    [Fact]
    public void FormerVersion_WithoutItsConstructor_SaysWhatToWrite()
    {
        var why = Assert.Throws<InvalidOperationException>(FormerVersion.Of<DepotV1, DepotRetyped>);
        Assert.Contains("_items is a Int32 where _items was a List`1: add DepotRetyped(DepotV1 old)", why.Message, StringComparison.Ordinal);
    }

    /// <summary>Without a constructor the names of fields do.</summary>
    [Fact]
    public void Switch_ByNames_TakesOverTheFields()
    {
        FakeCoordinator app = Begun<DepotNamed>(FormerVersion.Of<DepotV1, DepotNamed>());
        app.Deliver(Call(Put, 7, "gold"));
        List<string> before = [.. Items(app)];
        Convert(app, ConversionUse.Switch);
        app.Deliver(Upgrade());
        DepotNamed depot = app.Immortal<DepotNamed>();
        Assert.Equal(before, depot._wares);
        Assert.Equal((0, "upgraded from 1"), (depot._added, depot._seen));
    }

    [Fact]
    public void FormerVersion_ThatDoesNotAscend_SaysSo()
    {
        var why = Assert.Throws<InvalidOperationException>(FormerVersion.Of<DepotV1, DepotV2>);
        Assert.Contains("state versions that ascend", why.Message, StringComparison.Ordinal);
    }

    internal static FormerVersion Depots(string effect) => new(
        ImmortalDefinition.Of<DepotV1>(), 1, old => new DepotV2((DepotV1)old, effect))
    {
        Successor = typeof(DepotV2),
    };

    private static FakeCoordinator Filled(FormerVersion former)
    {
        FakeCoordinator app = Begun<DepotV2>(former);
        app.Deliver(Call(Put, 7, "gold"));
        return app;
    }

    private static FakeCoordinator Begun<T>(FormerVersion former)
        where T : Immortal, IImmortal<T>
    {
        var app = new FakeCoordinator(ImmortalDefinition.Of<T>()) { Former = former };
        app.Welcome(runs: 1);
        app.Deliver(FirstStart(), Peer(1, "bank2"));
        return app;
    }

    private static List<string> Items(FakeCoordinator app) => app.Immortal<DepotV1>()._items;

    private static void Convert(FakeCoordinator app, ConversionUse use) => app.Send(new ConvertFrame(app.Next, 1, 2, use));

    private static byte[] Upgrade() =>
        RecordKinds.EncodeWhole(new UpgradeRecord(1, 2, new Lsn(64), new Epoch(3), "r0", 0, 0, null));
}
