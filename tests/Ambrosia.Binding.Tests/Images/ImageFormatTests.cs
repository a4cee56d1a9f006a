using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>An image says by its first two items who can read it; an app refuses another one's by name, and has changed nothing.</summary>
public sealed class ImageFormatTests
{
    [Fact]
    public void Image_OfThisBinding_BeginsWithItsFormat()
    {
        var from = new CborReader(Taken());

        Assert.Equal((5, "ambrosia-csharp", 8u), (from.ReadArrayHeader(), from.ReadString(), from.ReadUInt32()));
    }

    [Theory]
    [InlineData("ambrosia", 1, "ambrosia of version 1")]
    [InlineData("ambrosia-csharp", 9, "ambrosia-csharp of version 9")]
    [InlineData(null, 7, "ambrosia-csharp of version 7")]
    public void Image_OfAnotherFormat_IsRefusedByName(string? format, ulong version, string expected)
    {
        FakeCoordinator coordinator = Restored(Front(format, version));

        Assert.Equal(GoodbyeCode.Refused, coordinator.Session.End!.Code);
        Assert.Equal(
            $"The checkpoint's image has the format {expected}; this app reads ambrosia-csharp of version 8. Nothing is lost: start the app that wrote it.",
            coordinator.Session.End.Why);
        Assert.Null(coordinator.Session.Immortal);
    }

    [Theory]
    [InlineData("80")]
    [InlineData("8161")]
    [InlineData("A0")]
    [InlineData("82F6F6")]
    [InlineData("00")]
    public void Image_OfNoFormat_IsRefused(string image)
    {
        FakeCoordinator coordinator = Restored(Convert.FromHexString(image));

        Assert.Equal(GoodbyeCode.Refused, coordinator.Session.End!.Code);
    }

    private static byte[] Taken()
    {
        FakeCoordinator coordinator = Started<Counter>();
        coordinator.Deliver(Mark());
        return coordinator.Image;
    }

    private static FakeCoordinator Restored(byte[] image)
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<Counter>());
        coordinator.Welcome(image);
        return coordinator;
    }

    /// <summary>Encodes an image of nothing behind its front; one of before version 8 began with the version.</summary>
    private static byte[] Front(string? format, ulong version)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        to.WriteArrayHeader(format is null ? 4 : 5);
        if (format is not null) to.WriteString(format);
        to.WriteUInt64(version);
        for (int i = 0; i < 3; i++) to.WriteArrayHeader(0);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }
}
