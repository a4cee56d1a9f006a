namespace Ambrosia.Coordinator.Tests;

/// <summary>An app that floods many has its short runs sent together; one that pauses, or for which somebody waits, has them sent at once.</summary>
public sealed class HeldOutputsTests
{
    private const int Little = 100;

    private readonly List<Outbox> sent = [];
    private readonly HeldOutputs outputs;
    private readonly Outbox left = NewOutbox(1), right = NewOutbox(2);

    public HeldOutputsTests() => outputs = new HeldOutputs(sent.Add);

    private static Outbox NewOutbox(uint index) => new(new($"peer{index}"), index, null!, null!);

    [Fact]
    public void Release_WhileTheAppSaysMore_HoldsShortForksForSeveralUntilThereIsEnough()
    {
        for (int bytes = 0; bytes < HeldOutputs.WorthSendingBytes; bytes += Little)
        {
            Assert.Empty(sent);
            outputs.Add(left, Little, isAwaited: false);
            if (bytes == 0) outputs.Add(right, Little, isAwaited: false);
            outputs.Release(saysMore: true);
        }
        Assert.Equal([left], sent);
    }

    [Fact]
    public void Release_OnceTheAppPauses_HoldsNothing()
    {
        outputs.Add(left, Little, isAwaited: false);
        outputs.Add(right, Little, isAwaited: false);
        outputs.Release(saysMore: true);
        outputs.Release(saysMore: false);
        Assert.Equal([left, right], sent);
        outputs.Release(saysMore: false);
        Assert.Equal(2, sent.Count); // each was told once
    }

    [Fact]
    public void Release_ForOneAlone_HoldsNothing()
    {
        outputs.Add(left, Little, isAwaited: false);
        outputs.Release(saysMore: true);
        Assert.Equal([left], sent);
    }

    [Fact]
    public void Release_OfWhatIsAwaited_DoesNotWait()
    {
        outputs.Add(left, Little, isAwaited: false);
        outputs.Add(right, Little, isAwaited: false);
        outputs.Add(right, Little, isAwaited: true);
        outputs.Release(saysMore: true);
        Assert.Equal([right], sent);
    }

    [Fact]
    public void Release_OfMuchInAll_HoldsNothing()
    {
        const int each = HeldOutputs.WorthSendingBytes - 1;
        int count = HeldOutputs.HeldBytesMax / each + 1;
        for (uint i = 0; i < count; i++)
        {
            Assert.Empty(sent);
            outputs.Add(NewOutbox(i), each, isAwaited: false);
            if (i > 0) outputs.Release(saysMore: true);
        }
        Assert.Equal(count, sent.Count);
    }
}
