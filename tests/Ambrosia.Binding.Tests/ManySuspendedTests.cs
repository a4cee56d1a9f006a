using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

public sealed class ManySuspendedTests
{
    private const int Handlers = 100_000, RunMessages = 10_000;

    [Fact]
    public void Image_OfOneHundredThousandSuspendedHandlers_IsRestored()
    {
        FakeCoordinator first = Started<Bank>();
        byte[] arguments = Cbor.Of(["bank3", "ann"]);
        foreach (int[] some in Enumerable.Range(1, Handlers).Chunk(RunMessages))
            first.Deliver(Run(MessageKind.Call, 1, [.. some.Select(i => (3u, (ulong)i, arguments))]));
        first.Deliver(Mark(bound: 1));
        Assert.Null(first.Session.End);
        byte[] image = first.Image;
        Assert.NotEmpty(image);

        var second = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        second.Welcome(image, first.Next.Value);
        second.Deliver(Mark(bound: 1));
        Assert.True(image.AsSpan().SequenceEqual(second.Image));
        second.Said.Clear();
        foreach (int[] some in Enumerable.Range(1, Handlers).Chunk(RunMessages))
            second.Deliver(Run(MessageKind.Result, 2, [.. some.Select(i => (2u, (ulong)i, Cbor.Of([(long)i])))]));

        Assert.Equal(Handlers, second.Said.Count(static line => line.StartsWith("result", StringComparison.Ordinal)));
        Assert.Contains($"result bank2 3 #{Handlers} {Handlers}", second.Said);
        second.Deliver(Mark());
        Assert.Contains($"image at {second.Next}", second.Said);
    }
}
