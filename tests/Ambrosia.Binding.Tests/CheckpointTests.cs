using System.Buffers;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.State;
using Ambrosia.Tasks;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

public sealed class CheckpointTests
{
    [Fact]
    public void Mark_AtQuietRecord_TakesImageThere()
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.Deliver(Fork(1, "ann", 5), Mark());

        Assert.Equal([$"image at {coordinator.Next}"], coordinator.Said);
        Assert.NotEmpty(coordinator.Image);
    }

    [Theory]
    [InlineData("r0", 2)]
    [InlineData("r1", 2)]
    public void Mark_OfALowerEpoch_TakesNone(string replica, ulong epoch)
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.Deliver(Mark(replica, epoch));

        Assert.Equal([$"processed {coordinator.Next}"], coordinator.Said);
    }

    /// <summary>All secondaries compare, so each takes the image of every mark.</summary>
    [Theory]
    [InlineData("r1", 3)]
    [InlineData("r1", 4)]
    [InlineData("r0", 4)]
    public void Mark_ForAnotherOrLater_SecondaryTakesItToo(string replica, ulong epoch)
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.Deliver(Mark(replica, epoch));

        Assert.Equal([$"image at {coordinator.Next}"], coordinator.Said);
    }

    [Fact]
    public void Mark_ForAnother_PrimaryTakesNone()
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.BecomePrimary();
        coordinator.Said.Clear();
        coordinator.Deliver(Mark("r1"));

        Assert.Equal([$"processed {coordinator.Next}"], coordinator.Said);
    }

    [Fact]
    public void Mark_WhileSuspended_WaitsAndSaysWhy()
    {
        FakeCoordinator coordinator = Started<Bank>();
        coordinator.DeliverWith(0, 1, Call(3, 7, "bank3", "ann"));
        ulong mark = coordinator.Next.Value;
        coordinator.DeliverWith(0, 2, Mark());
        coordinator.Said.Clear();

        coordinator.DeliverWith(0, 10_000_003, Fork(1, "ann", 1));
        coordinator.DeliverWith(0, 20_000_003, Fork(1, "ann", 1));
        Assert.Single(coordinator.Said,
            line =>
                line.StartsWith($"waiting for {mark}: 1 handlers and 1 methods are suspended; the oldest outstanding call is 1",
                    StringComparison.Ordinal));
        Assert.DoesNotContain(coordinator.Said, line => line.StartsWith("image", StringComparison.Ordinal));

        coordinator.Deliver(Result(2, 1, 2, 4));
        Assert.Equal($"image at {coordinator.Next}", coordinator.Said[^1]);
    }

    [Fact]
    public void Restore_ThenMark_GivesTheSameBytes()
    {
        FakeCoordinator first = Started<Bank>();
        first.Deliver(Fork(1, "ann", 5), Fork(14, "bank3"), Call(3, 9, "bank2", "x"), Result(2, 2, 1, 1), Mark());
        byte[] image = first.Image;

        FakeCoordinator second = Restored<Bank>(image);
        second.Deliver(Mark());

        Assert.Equal(image, second.Image);
    }

    [Fact]
    public void Restore_ThenGoOn_SaysWhatTheOriginalSays()
    {
        FakeCoordinator first = Started<Bank>();
        first.Deliver(Fork(1, "ann", 5), Fork(14, "bank3"), Mark());
        FakeCoordinator second = Restored<Bank>(first.Image, first.Next.Value);
        first.Said.Clear();
        byte[][] rest = [Call(2, 8, "ann"), Result(2, 1, 2, 77), Call(3, 9, "bank3", "y")];

        first.Deliver(rest);
        second.Deliver(rest);

        string[] Messages(FakeCoordinator from) => [.. from.Said.Where(line => !line.StartsWith("destination", StringComparison.Ordinal))];
        Assert.Equal(Messages(first), Messages(second));
        Assert.Contains("call bank3 2 #2 'y'", second.Said);
        Assert.True(second.Immortal<Bank>().Kept.IsCompleted);
        Assert.Equal(77, second.Immortal<Bank>().KeptValue);
        Assert.Null(second.Immortal<Bank>().LastInput);
    }

    [Fact]
    public void Restore_OfAllKinds_KeepsValuesAndIdentity()
    {
        FakeCoordinator first = Started<Keeper>();
        first.Deliver(Fork(1), Mark());
        FakeCoordinator second = Restored<Keeper>(first.Image);
        Keeper was = first.Immortal<Keeper>(), now = second.Immortal<Keeper>();

        Assert.Equal(0, first.Session.FailedForks);
        Assert.True(now.Flag);
        Assert.Equal(was.Numbers, now.Numbers);
        Assert.Equal(was.Times, now.Times);
        Assert.Equal(DateTimeKind.Utc, now.Times.Item1.Kind);
        Assert.Equal(was.Day, now.Day);
        Assert.Null(now.NoNumber);
        Assert.Equal(was.Text, now.Text);
        Assert.Equal(42, now.Boxed);
        Assert.Same(now.Boxed, now.BoxedAgain);
        Assert.Equal(was.Grid, now.Grid);
        Assert.Equal(was.Bytes, now.Bytes);
        Assert.Same(now.Root!.Children[1], now.Alias);
        Assert.Equal("child1", now.Alias!.Name);
        Assert.Same(now.Root, now.Alias.Parent);
        Assert.Same(now.Alias, now.Mixed![3]);
        Assert.Same(now.Root, ((Pair)now.Mixed[4]!).Second);
        Assert.Equal(DayOfWeek.Monday, now.Mixed[5]);
        Assert.Equal((7, "y"), now.Pair.Third);
        Assert.Equal((10, 0, "kk", null),
            (now.Contracted!.Kept, now.Contracted.Dropped, now.Contracted.KeptText, now.Contracted.DroppedText));
        Assert.Equal([3, 1, 2], now.Shared!);
        Assert.Same(now.Shared, now.SharedAgain);
        Assert.Same(now.Root, now.ByName!["ONE"]);
        Assert.Equal(2, now.ByKey![new CaseKey("b")]);
        Assert.Equal(["z", "a", "m"], now.Set!);
        Assert.Equal([1, 2, 3], now.Queue!);
        Assert.Equal([3, 2, 1], now.Stack!);
        Assert.Equal(["x", "y"], now.Linked!);
        Assert.Equal(["a", "b"], now.Sorted!.Keys);
        Assert.Same(StringComparer.Ordinal, now.Sorted.Comparer);
        Assert.Equal([1, 2, 3], now.SortedSet!);
        Assert.Equal(["p", "q"], now.SortedList!.Keys);
        Assert.Equal("other", now.Other!.InstanceName);
        Assert.Same(now.Other, now.OtherAgain);
        Assert.Null(now.Ignored);
        Assert.Null(now.IgnoredToo);

        second.Deliver(Mark());
        Assert.Equal(first.Image, second.Image);
    }

    [Theory]
    [InlineData(1, "field Keeper.Spoiled: System.IO.MemoryStream cannot be written")]
    [InlineData(2, "field Keeper.Spoiled: Func<System.Int32> outside the locals of a method cannot be written")]
    [InlineData(3, "Dictionary<System.String, System.Int32> with a comparer of type")]
    [InlineData(4, "an element of List<System.Object>: System.Threading.Timer cannot be written")]
    [InlineData(5, "field Keeper.Spoiled: System.Threading.CancellationTokenSource cannot be written")]
    [InlineData(6, "field Keeper.Spoiled: System.Threading.Tasks.Task cannot be written")]
    [InlineData(8, "field Keeper.Spoiled: ConcurrentQueue<System.Int32> cannot be written")]
    [InlineData(9, "System.Numerics.Complex")]
    [InlineData(10, "System.IO.MemoryStream cannot be written")]
    public void State_ThatCannotBeWritten_IsNamed(int how, string expected)
    {
        FakeCoordinator coordinator = Started<Keeper>();
        ulong mark = coordinator.Next.Value + (ulong)Fork(2, how).Length;
        coordinator.Deliver(Fork(2, how), Mark(), Fork(2, 0));

        string line = Assert.Single(coordinator.Said, each => each.StartsWith("waiting", StringComparison.Ordinal));
        Assert.StartsWith($"waiting for {mark}: ", line, StringComparison.Ordinal);
        Assert.Contains(expected, line, StringComparison.Ordinal);

        // That mark is void; the next one finds a state that can be written.
        Assert.Empty(coordinator.Image);
        coordinator.Deliver(Mark());
        Assert.NotEmpty(coordinator.Image);
    }

    [Fact]
    public void State_WithAFailure_KeepsIt()
    {
        FakeCoordinator first = Started<Keeper>();
        first.Deliver(Fork(2, 7), Mark());
        FakeCoordinator second = Restored<Keeper>(first.Image);
        second.Deliver(Fork(3));

        Assert.Equal("T m i", second.Immortal<Keeper>().Text);
    }

    [Fact]
    public void Image_OfAnotherClass_IsRefused()
    {
        FakeCoordinator first = Started<Keeper>();
        first.Deliver(Mark());
        FakeCoordinator second = Restored<Bank>(first.Image);

        Assert.Equal(GoodbyeCode.Refused, second.Session.End!.Code); // another start of this app would end the same way
        Assert.Contains(
            "image holds a Ambrosia.Binding.Tests.Keeper, and this app is a Ambrosia.Binding.Tests.Bank", second.Session.End.Why,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Image_WithADamagedByte_IsRefusedNeverMisread()
    {
        FakeCoordinator first = Started<Bank>();
        first.Deliver(Fork(1, "ann", 5), Fork(14, "bank3"), Mark());
        for (int i = 0; i < first.Image.Length; i += 7)
        {
            byte[] damaged = [.. first.Image];
            damaged[i] ^= 0x15;
            // The checksum is right here, so the reader itself meets the damage: it may refuse or read other values, but not crash.
            FakeCoordinator second = Restored<Bank>(damaged);
            Assert.True(second.Session.State is SessionState.Running or SessionState.Ended);
        }
    }

    [Fact]
    public void Image_WithAWrongChecksum_IsAViolation()
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        coordinator.Send(new AppWelcome(1, new InstanceId("bank1"), "r0", Uuid, new Epoch(3), 7, 1000, new Lsn(64), true));
        coordinator.Send(new ImageBegin(new Lsn(64), 1));
        coordinator.Send(FrameType.ImageChunk, Encoding.UTF8.GetBytes("nonsense"));
        coordinator.Send(new ImageEnd(8, 1));

        Assert.Contains("P5.7", coordinator.Session.End!.Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Restore_OfRandomGraphs_GivesTheSameBytes()
    {
        for (int seed = 0; seed < 60; seed++)
        {
            FakeCoordinator first = Started<Grower>();
            first.Deliver(Fork(1, seed), Mark());
            Assert.Equal(0, first.Session.FailedForks);
            FakeCoordinator second = Restored<Grower>(first.Image);
            second.Deliver(Mark());
            Assert.True(first.Image.AsSpan().SequenceEqual(second.Image), $"seed {seed}: {second.Session.End}");
        }
    }

    /// <summary>
    /// A removed item leaves a slot that the next one takes: a restored collection goes on enumerating as the written one does.
    /// </summary>
    [Fact]
    public void Restore_HashedCollectionsWithRemovals_EnumerateAlikeAfterMoreChanges()
    {
        for (int seed = 0; seed < 60; seed++)
        {
            FakeCoordinator first = Started<Shelf>();
            first.Deliver(Fork(1, seed), Mark());
            FakeCoordinator second = Restored<Shelf>(first.Image);
            foreach (FakeCoordinator each in new[] { first, second }) each.Deliver(Fork(1, seed + 1000), Mark());
            Assert.Equal(0, first.Session.FailedForks);
            Assert.True(first.Image.AsSpan().SequenceEqual(second.Image), $"seed {seed}: {second.Session.End}");
        }
    }

    /// <summary>The negative control: slots do change the order, and they are found.</summary>
    [Fact]
    public void HashedSlots_OfRemovedItems_AreFoundInTheOrderOfTheirUse()
    {
        var map = new Dictionary<int, int> { [1] = 0, [2] = 0, [3] = 0, [4] = 0 };
        map.Remove(2);
        map.Remove(4);
        map.Remove(1);
        Assert.Equal([0, 3, 1], new HashedSlots(typeof(Dictionary<int, int>)).FreeOf(map));
        map.Add(9, 0);
        Assert.Equal([9, 3], map.Keys);
        Assert.Equal([3, 9], new Dictionary<int, int> { [3] = 0, [9] = 0 }.Keys);
    }

    /// <summary>
    /// The negative control: two collections of the same items and slots order what comes next by their capacity, once they were trimmed.
    /// </summary>
    [Fact]
    public void HashedSlots_Capacity_DecidesWhetherTrimmingClosesGaps()
    {
        var roomy = new Dictionary<int, int>(500) { [1] = 0, [2] = 0, [3] = 0 };
        var tight = new Dictionary<int, int> { [1] = 0, [2] = 0, [3] = 0 };
        var slots = new HashedSlots(typeof(Dictionary<int, int>));
        Assert.InRange(slots.CapacityOf(roomy), 500, 600);
        Assert.Equal(3, slots.CapacityOf(tight));
        foreach (Dictionary<int, int> each in new[] { roomy, tight })
        {
            each.Remove(1);
            each.TrimExcess();
            each.Add(9, 0);
        }
        Assert.Equal([2, 3, 9], roomy.Keys);
        Assert.Equal([9, 2, 3], tight.Keys);
    }

    /// <summary>An app can make one of any text, also of one that UTF-8 cannot say.</summary>
    [Fact]
    public void Failure_OfAnyText_IsKeptInTheState()
    {
        var written = new ArrayBufferWriter<byte>();
        ValueImage.Write(written, new RemoteCallException("Some.Type", "lone \uD800", new RemoteCallException("Inner", "plain")));
        RemoteCallException read = ValueImage.Read<RemoteCallException>(written.WrittenSpan, static (_, _) => { });

        Assert.Equal(("Some.Type", "lone \uD800", "plain"), (read.TypeName, read.Message, read.InnerException!.Message));
    }

    /// <summary>The negative control: images of different states differ.</summary>
    [Fact]
    public void Images_OfDifferentStates_Differ()
    {
        byte[] ImageAfter(int amount)
        {
            FakeCoordinator coordinator = Started<Bank>();
            coordinator.Deliver(Fork(1, "ann", amount), Mark());
            return coordinator.Image;
        }

        Assert.Equal(ImageAfter(5), ImageAfter(5));
        Assert.NotEqual(ImageAfter(5), ImageAfter(6));
    }

    [Fact]
    public void Image_LargerThanAChunk_IsCut()
    {
        FakeCoordinator first = Started<Keeper>();
        first.Deliver(Fork(1), Mark());

        Assert.True(first.Image.Length > ImageChunk.BytesMax);
    }

    private static FakeCoordinator Restored<T>(byte[] image, ulong at = 64)
        where T : Immortal, IImmortal<T>
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<T>());
        coordinator.Welcome(image, at);
        coordinator.Said.Clear();
        return coordinator;
    }
}
