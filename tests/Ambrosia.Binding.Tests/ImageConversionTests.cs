using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Two builds in two processes: the old one sends its state, and the new one makes its own of it (protocol P5.25).</summary>
public sealed class ImageConversionTests
{
    private const uint Put = 1;

    [Fact]
    public void State_ThatIsAskedFor_IsTheImageAndNothingChanges()
    {
        FakeCoordinator app = Filled(), never = Filled();
        app.Send(new ConvertFrame(Lsn.Zero, 1, 1, ConversionUse.State));
        Assert.NotEmpty(app.Image);
        foreach (FakeCoordinator each in new[] { app, never }) each.Deliver(Call(Put, 9, "silver"));
        Assert.Equal(never.Immortal<DepotV1>()._items, app.Immortal<DepotV1>()._items);
    }

    [Fact]
    public void State_BeforeTheFirstRecord_IsRefused()
    {
        var app = new FakeCoordinator(ImmortalDefinition.Of<DepotV1>());
        app.Welcome();
        app.Send(new ConvertFrame(Lsn.Zero, 1, 1, ConversionUse.State));
        Assert.Equal((ConversionUse.State, "there is no state before the first record"), (app.Converted!.Use, app.Converted.Why));
    }

    [Theory]
    [InlineData(ConversionUse.Image, 2)]
    [InlineData(ConversionUse.State, 1)]
    public void State_OfAnotherVersionOrUse_BreaksTheProtocol(ConversionUse use, uint version)
    {
        FakeCoordinator app = Filled();
        app.Send(new ConvertFrame(Lsn.Zero, use == ConversionUse.State ? 2 : version - 1, 2, use));
        Assert.Equal(GoodbyeCode.ProtocolViolation, app.Session.End!.Code);
    }

    [Fact]
    public void Image_OfTheOldBuild_BecomesThatOfTheNewOneByNames()
    {
        byte[] old = OldImage();
        FakeCoordinator rehearsed = Converter<DepotNamed>(old), asked = Converter<DepotNamed>(old);
        rehearsed.Send(new ConvertFrame(Lsn.Zero, 1, 2, ConversionUse.Rehearsal));
        asked.Send(new ConvertFrame(asked.Next, 1, 2, ConversionUse.Image));
        Assert.Equal((ChannelHash.Append(0, asked.Image), ""), (rehearsed.Converted!.Hash, rehearsed.Converted.Why));
        Assert.DoesNotContain(rehearsed.Said, static line => line.StartsWith("fork", StringComparison.Ordinal));

        var next = new FakeCoordinator(ImmortalDefinition.Of<DepotNamed>()) { AppVersion = 2 };
        next.Welcome(asked.Image, asked.Next.Value);
        next.Deliver(RecordKinds.EncodeWhole(new UpgradeRecord(1, 2, new Lsn(64), new Epoch(3), "r0", 0, 0, null)));
        DepotNamed depot = next.Immortal<DepotNamed>();
        Assert.Equal(Filled().Immortal<DepotV1>()._items, depot._wares);
        Assert.Equal((0, "upgraded from 1"), (depot._added, depot._seen));
    }

    /// <summary>The class of before was renamed in the new build, and the new one has the name that it had.</summary>
    [Fact]
    public void Image_OfAClassWhoseNameTheNewOneHas_IsGivenToTheFormerOne()
    {
        var app = new FakeCoordinator(ImmortalDefinition.Of<DepotV2>()) { Former = VersionChangeTests.Depots("") };
        app.Welcome(OldImage("DepotV2"), converts: 1);
        app.Send(new ConvertFrame(app.Next, 1, 2, ConversionUse.Image));
        Assert.Null(app.Converted);
        var next = new FakeCoordinator(ImmortalDefinition.Of<DepotV2>()) { AppVersion = 2 };
        next.Welcome(app.Image, app.Next.Value);
        Assert.Equal([.. Filled().Immortal<DepotV1>()._items, "converted"], next.Immortal<DepotV2>()._items);
    }

    [Fact]
    public void Image_WhoseFieldIsOfAnotherType_IsRefused()
    {
        FakeCoordinator app = Converter<DepotRetyped>(OldImage());
        app.Send(new ConvertFrame(app.Next, 1, 2, ConversionUse.Image));
        Assert.Equal(ConversionUse.Image, app.Converted!.Use);
        Assert.NotEmpty(app.Converted.Why);
        Assert.Null(app.Session.End);
    }

    [Fact]
    public void Image_OfAnotherService_IsRefused()
    {
        FakeCoordinator app = Converter<TillV2>(OldImage());
        app.Send(new ConvertFrame(app.Next, 1, 2, ConversionUse.Rehearsal));
        Assert.NotEmpty(app.Converted!.Why);
    }

    /// <summary>Whoever converts an image has not executed what it holds, and executes nothing.</summary>
    [Fact]
    public void Converter_ThatIsGivenRecords_EndsTheSession()
    {
        FakeCoordinator app = Converter<DepotNamed>(OldImage());
        app.Deliver(Call(Put, 9, "silver"));
        Assert.Equal(GoodbyeCode.ProtocolViolation, app.Session.End!.Code);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void Converter_OfAnImageThatIsNotOlder_EndsTheSession(uint version)
    {
        var app = new FakeCoordinator(ImmortalDefinition.Of<DepotNamed>()) { AppVersion = 2 };
        app.Welcome(OldImage(), converts: version);
        Assert.Equal(GoodbyeCode.ProtocolViolation, app.Session.End!.Code);
    }

    [Fact]
    public void Converter_AskedTwice_EndsTheSession()
    {
        FakeCoordinator app = Converter<DepotNamed>(OldImage());
        app.Send(new ConvertFrame(Lsn.Zero, 1, 2, ConversionUse.Rehearsal));
        app.Send(new ConvertFrame(Lsn.Zero, 1, 2, ConversionUse.Rehearsal));
        Assert.Equal(GoodbyeCode.ProtocolViolation, app.Session.End!.Code);
    }

    private static FakeCoordinator Filled()
    {
        var app = new FakeCoordinator(ImmortalDefinition.Of<DepotV1>());
        app.Welcome();
        app.Deliver(FirstStart(), Peer(1, "bank2"));
        app.Deliver(Call(Put, 7, "gold"));
        return app;
    }

    /// <summary>
    /// An image as another build has written it, in which the class had another name: one that this assembly knows as a former one alone.
    /// </summary>
    private static byte[] OldImage(string called = "DepotV0")
    {
        FakeCoordinator app = Filled();
        app.Send(new ConvertFrame(Lsn.Zero, 1, 1, ConversionUse.State));
        byte[] image = app.Image;
        ReadOnlySpan<byte> name = "DepotV1"u8;
        Assert.True(image.AsSpan().IndexOf(name) >= 0);
        for (int at; (at = image.AsSpan().IndexOf(name)) >= 0;) System.Text.Encoding.ASCII.GetBytes(called).CopyTo(image.AsSpan(at));
        return image;
    }

    private static FakeCoordinator Converter<T>(byte[] image)
        where T : Immortal, IImmortal<T>
    {
        var app = new FakeCoordinator(ImmortalDefinition.Of<T>()) { AppVersion = 2 };
        app.Welcome(image, converts: 1);
        return app;
    }
}
