using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Images with suspended handlers in them, of this build; other builds and processes: tests/Ambrosia.Suspension.Tests.</summary>
public sealed class SuspendedImageTests
{
    private const ulong AtOnce = 1;

    [Fact]
    public void Mark_WithABound_WaitsForAQuietRecordWithinIt()
    {
        FakeCoordinator coordinator = Started<Bank>();
        ulong size = (ulong)Mark().Length;
        coordinator.Deliver(Call(3, 7, "bank3", "ann"), Mark(bound: size + 1000));
        Assert.Empty(coordinator.Image);

        coordinator.Deliver(Result(2, 1, 2, 4));
        Assert.Contains($"image at {coordinator.Next}", coordinator.Said);
    }

    [Fact]
    public void Mark_WhoseBoundEnds_TakesWhatIsSuspended()
    {
        FakeCoordinator coordinator = Started<Bank>();
        byte[] fork = Fork(1, "ann", 1);
        coordinator.Deliver(Call(3, 7, "bank3", "ann"));
        ulong mark = coordinator.Next.Value;
        // The bound ends exactly with the second fork.
        ulong bound = (ulong)(Mark().Length + 2 * fork.Length);
        coordinator.Deliver(Mark(bound: bound));
        coordinator.Deliver(fork);
        Assert.Empty(coordinator.Image);
        coordinator.Deliver(fork);

        Assert.Contains($"image at {mark + bound}", coordinator.Said);
        Assert.NotEmpty(coordinator.Image);
    }

    /// <summary>
    /// The place behind a page's last record is a boundary, and the next page's Lsn is none, though the same records lie below both (P5.8):
    /// a replica that took the one for the other would compare the images of two places.
    /// </summary>
    [Fact]
    public void Mark_WhoseBoundEndsInThePadding_WaitsForTheNextRecord()
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.Deliver(Call(3, 7, "bank3", "ann"));
        byte[] fork = Fork(1, "ann", 5);
        coordinator.Deliver(Mark(bound: (ulong)(Mark().Length + fork.Length) + 1), fork);
        coordinator.EndPage();
        coordinator.DeliverWith(coordinator.Next.Value, 0, []);
        Assert.Empty(coordinator.Image);
        coordinator.Deliver(fork);

        Assert.Contains($"image at {coordinator.Next}", coordinator.Said);
    }

    /// <summary>A mark that replaces another does not put the end off.</summary>
    [Fact]
    public void Mark_AfterAnother_KeepsTheEarlierEnd()
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.Deliver(Call(3, 7, "bank3", "ann"));
        ulong first = coordinator.Next.Value;
        ulong bound = (ulong)(2 * Mark().Length);
        coordinator.Deliver(Mark(bound: bound), Mark(bound: 1 << 20));

        Assert.Contains($"image at {first + bound}", coordinator.Said);
    }

    [Fact]
    public void Restore_OfSuspendedHandlers_GoesOnLikeTheOriginal()
    {
        FakeCoordinator first = Started<Bank>();
        first.Deliver(
            Call(3, 7, "bank3", "ann"), Call(4, 8, new[] { "bank2", "bank3" }, "bob"), Call(5, 9, "bank3", "eve", 5),
            Call(15, 10, 3, "bank2"), Call(13, 11, "bank3"), Mark(bound: AtOnce));
        FakeCoordinator second = Restored(first.Image, first.Next.Value);
        Assert.Null(second.Session.End);
        byte[][] rest =
        [
            Result(2, 3, 2, 30), Result(2, 1, 2, 10), Result(2, 2, 1, 20), Result(1, 4, 2), Result(2, 5, 1, 50), Failure(6, 6, 2),
            Call(2, 12, "eve"),
        ];
        first.Said.Clear();
        first.Deliver([.. rest, Mark()]);
        second.Deliver([.. rest, Mark()]);

        Assert.Equal(Messages(first), Messages(second));
        Assert.Equal(first.Image, second.Image);
        Assert.Equal(
            ["result bank2 3 #7 10", "result bank2 4 #8 50", "result bank2 5 #9", "result bank2 15 #10 53", "result bank2 13 #11 'T: m ()'",
                "result bank2 2 #12 -5"],
            Messages(second).Where(static line => line.StartsWith("result", StringComparison.Ordinal))
                .OrderBy(static line => int.Parse(line.Split('#')[1].Split(' ')[0])));
    }

    [Fact]
    public void Image_TakenTwice_HasTheSameBytes()
    {
        FakeCoordinator first = Started<Bank>();
        first.Deliver(Call(15, 10, 20, "bank2"), Call(4, 8, new[] { "bank2", "bank3" }, "bob"), Mark(bound: AtOnce));
        byte[] image = first.Image;
        first.Deliver(Mark(bound: AtOnce));
        Assert.Equal(image, first.Image);

        FakeCoordinator second = Restored(image, first.Next.Value);
        second.Deliver(Mark(bound: AtOnce));
        Assert.Equal(image, second.Image);
    }

    /// <summary>
    /// Some objects belong to the process: the immortal's proxy of itself, empty arrays, texts of the program, delegates without a target.
    /// One that was restored has its own beside those of the image, and its image is still that of a process that never died.
    /// </summary>
    [Fact]
    public void Restore_OfWhatAProcessHasOnce_LeadsToTheSameImages()
    {
        FakeCoordinator first = Started<Sharer>();
        first.Deliver(Call(1, 7, 0), Mark(bound: AtOnce));
        FakeCoordinator second = Restored<Sharer>(first.Image, first.Next.Value);
        byte[] next = Call(1, 8, 1), mark = Mark(bound: AtOnce);
        first.Deliver(next, mark);
        second.Deliver(next, mark);
        Assert.Equal(first.Image, second.Image);
    }

    private static byte[] Failure(uint method, ulong call, uint origin)
    {
        var body = new System.Buffers.ArrayBufferWriter<byte>();
        var writer = new CborWriter(body);
        new FailureInfo("T", "m").Write(ref writer);
        writer.Flush();
        return Run(MessageKind.Failure, origin, (method, call, body.WrittenSpan.ToArray()));
    }

    private static string[] Messages(FakeCoordinator from) =>
        [.. from.Said.Where(static line => !line.StartsWith("destination", StringComparison.Ordinal))];

    private static FakeCoordinator Restored(byte[] image, ulong at) => Restored<Bank>(image, at);

    private static FakeCoordinator Restored<T>(byte[] image, ulong at)
        where T : Immortal, IImmortal<T>
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<T>());
        coordinator.Welcome(image, at);
        coordinator.Said.Clear();
        return coordinator;
    }
}
