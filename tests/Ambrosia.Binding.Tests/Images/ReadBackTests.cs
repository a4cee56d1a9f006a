using Ambrosia.Protocol.Frames;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>An image that does not read back is no checkpoint: it is not sent, and the field is named.</summary>
public sealed class ReadBackTests
{
    [Theory]
    [InlineData(Opaque.Other, "field Doubtful.Held")]
    [InlineData(Opaque.Throwing, "no such opaque thing")]
    [InlineData(4, "field Doubtful.Keys: HashSet<Partial> cannot be restored: of 2 elements 1 are left")]
    public void FirstImage_ThatDoesNotReadBack_IsRefused(int what, string expected)
    {
        FakeCoordinator coordinator = Started<Doubtful>();
        coordinator.Deliver(Fork(1, what), Mark());

        Assert.Empty(coordinator.Image);
        string line = Assert.Single(coordinator.Said, each => each.StartsWith("waiting", StringComparison.Ordinal));
        Assert.Contains($": {Waiting.Refused}", line, StringComparison.Ordinal);
        Assert.Contains(expected, line, StringComparison.Ordinal);

        // The next one is read back as well, and the state is sound by then.
        coordinator.Deliver(Fork(1, Opaque.Sound), Mark());
        Assert.NotEmpty(coordinator.Image);
        Assert.Null(coordinator.Session.End);
    }

    [Fact]
    public void Images_First2nd4th8th_AreReadBack()
    {
        FakeCoordinator coordinator = Started<Doubtful>();
        coordinator.Deliver(Fork(1, Opaque.Counted));
        Opaque.Reads = 0;
        var readAt = new List<int>();
        for (int i = 1; i <= 17; i++)
        {
            int before = Opaque.Reads;
            coordinator.Deliver(Mark());
            if (Opaque.Reads > before) readAt.Add(i);
        }

        Assert.Equal([1, 2, 4, 8, 16], readAt);
    }

    /// <summary>The negative control: what is not read back is taken, and no restore reads it as it was.</summary>
    [Fact]
    public void ThirdImage_ThatWouldNotReadBack_IsSent()
    {
        FakeCoordinator coordinator = Started<Doubtful>();
        coordinator.Deliver(Mark(), Mark(), Fork(1, Opaque.Throwing), Mark());

        Assert.DoesNotContain(coordinator.Said, static each => each.StartsWith("waiting", StringComparison.Ordinal));
        var second = new FakeCoordinator(ImmortalDefinition.Of<Doubtful>());
        second.Welcome(coordinator.Image);
        Assert.Contains("no such opaque thing", second.Session.End!.Why, StringComparison.Ordinal);
    }

    /// <summary>Reading back changes nothing: the image is that which is written without it, and handlers go on.</summary>
    [Fact]
    public void ImageOfSuspendedHandlers_ReadBack_IsTheSameAsTheNext()
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.Deliver(Call(3, 7, "bank3", "ann"), Fork(14, "bank3"), Mark(bound: 1));
        byte[] proven = coordinator.Image;
        coordinator.Deliver(Mark(bound: 1));
        coordinator.Deliver(Mark(bound: 1));

        Assert.NotEmpty(proven);
        Assert.Equal(proven.Length, coordinator.Image.Length);
        coordinator.Deliver(Result(2, 1, 2, 4));
        Assert.Null(coordinator.Session.End);
    }
}
