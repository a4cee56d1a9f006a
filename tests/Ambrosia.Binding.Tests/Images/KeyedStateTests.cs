using System.Buffers;
using Ambrosia.State;
using Ambrosia.Tasks;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// Maps and sets whose keys are equal by what other maps and sets hold: they find their keys behind a restore, or are refused.
/// </summary>
public sealed class KeyedStateTests
{
    [Fact]
    public void Restore_KeysThatAreEqualByContentOfOtherCollections_FindsThemAll()
    {
        FakeCoordinator first = Started<KeyHolder>();
        first.Deliver(Fork(1), Mark());
        Assert.Equal(0, first.Session.FailedForks);
        FakeCoordinator second = Restored(first.Image);
        Assert.True(second.Session.End is null, second.Session.End?.Why);

        KeyHolder now = second.Immortal<KeyHolder>();
        Assert.Equal(3, now.Parties!.Count);
        Assert.Contains(new Party("carl"), now.Parties);
        Assert.Contains(new Party("bob", "ann"), now.Parties);
        Assert.Contains(new Party(), now.Parties);
        Assert.Contains(now.Parties, now.ByIdentity!);
        Assert.Equal(2, now.ByPair![(new("bob"), "x")]);
        Assert.Equal((100, 7, 8), (now.Tabs![new("carl")], now.Tabs[new("ann")], now.Tabs[new("ann", "dora")]));
        Assert.Contains(new Ranked("", 2), now.Ranking!);
        Assert.Equal(3, now.Ranking!.Count);
        Assert.Equal(1, now.FixedRanking!.IndexOf(new("", 2)));
        Assert.Equal(new Party("y"), now.RankedParties![new("", 1)]);
        Assert.Equal("c", now.Holey![new("c")]);
        Assert.Equal("one", now.Queue!.Dequeue());
        Assert.Equal((2, 3, 4), (now.Mixed![new Party("n")], now.Mixed["text"], now.Mixed[(new Party("t"), 4)]));
        foreach (Member each in now.First!.Friends)
        {
            Assert.Equal(3, each.Friends.Count);
            Assert.Contains(new Member(3), each.Friends);
            Assert.Same(each, each.ByParty[new("c")]);
            Assert.Same(now.First, each.ByParty[new("b", "a")]);
        }
        Assert.Equal(2, now.List![new("", 2)]);
    }

    [Fact]
    public void Restore_KeysThatAreEqualByContentOfOtherCollections_GivesTheSameBytes()
    {
        FakeCoordinator first = Started<KeyHolder>();
        first.Deliver(Fork(1), Mark());
        FakeCoordinator second = Restored(first.Image);
        second.Deliver(Mark());

        Assert.True(first.Image.AsSpan().SequenceEqual(second.Image));
    }

    [Theory]
    [InlineData(0, "field KeyHolder.Parties", "a key of which has changed")]
    [InlineData(1, "field KeyHolder.Numbers", "two keys of which have become equal")]
    [InlineData(2, "field KeyHolder.Numbers", "a key of which has changed")]
    [InlineData(3, "field KeyHolder.Ranking", "the order of whose keys has changed")]
    [InlineData(4, "field KeyHolder.Queue", "the order of whose keys has changed")]
    [InlineData(5, "field KeyHolder.Pairs", "two keys of which have become equal")]
    [InlineData(6, "field KeyHolder.List", "two keys of which have become equal")]
    [InlineData(7, "field KeyHolder.FixedRanking", "the order of whose keys has changed")]
    [InlineData(8, "field KeyHolder.Parties", "a key of which cannot be looked up (NullReferenceException")]
    public void Mark_OfKeysThatHaveChanged_IsRefusedByField(int how, string field, string why)
    {
        FakeCoordinator coordinator = Started<KeyHolder>();
        coordinator.Deliver(Fork(1), Fork(2, how), Mark());

        Assert.Equal(0, coordinator.Session.FailedForks);
        Assert.Empty(coordinator.Image);
        string line = Assert.Single(coordinator.Said, each => each.StartsWith("waiting", StringComparison.Ordinal));
        Assert.Contains(field, line, StringComparison.Ordinal);
        Assert.Contains(why, line, StringComparison.Ordinal);
    }

    /// <summary>The keys have one hash, so that only their equality tells.</summary>
    [Fact]
    public void Write_OfKeysThatHaveBecomeEqual_IsRefused()
    {
        var a = new Coarse { Value = 1 };
        var b = new Coarse { Value = 2 };
        var map = new Dictionary<Coarse, int> { [a] = 1, [b] = 2 };
        var set = new HashSet<Coarse> { a, b };
        var structs = new HashSet<(Coarse, string)> { (a, "x"), (b, "x") };
        foreach (object each in new object[] { map, set, structs }) Written(each);

        b.Value = 1;
        foreach (object each in new object[] { map, set, structs })
            Assert.Contains("two keys of which have become equal", Assert.Throws<NotWritableException>(() => Written(each)).Message,
                StringComparison.Ordinal);
    }

    /// <summary>Images of earlier versions can hold such maps: they are refused by field and type.</summary>
    [Fact]
    public void Restore_OfKeysThatAreEqual_IsRefusedByFieldAndType()
    {
        FakeCoordinator first = Started<KeyHolder>();
        first.Deliver(Fork(1), Mark());
        byte[] image = [.. first.Image];
        int at = image.AsSpan().IndexOf("plain2"u8);
        image[at + "plain".Length] = (byte)'1';
        FakeCoordinator second = Restored(image);

        Assert.Contains("field KeyHolder.Plain: Dictionary<Person, System.Int32> cannot be restored: ", second.Session.End!.Why,
            StringComparison.Ordinal);
        Assert.DoesNotContain("damaged", second.Session.End.Why, StringComparison.Ordinal);
    }

    /// <summary>
    /// The key's hash is another one while its own set is not whole, so no order of filling gives it. The message says how the key comes to
    /// look into the set.
    /// </summary>
    [Fact]
    public void Restore_OfAKeyThatLooksIntoItsOwnSet_IsRefusedWithTheWay()
    {
        HashSet<Club> all = [new(), new()];
        var holder = (Club: new Club { All = all }, 5);
        all.Remove(all.First());
        Assert.True(all.Add(new Club { Of = [holder] })); // in the first slot, with the hash that it has beside another
        byte[] image = Written(all);

        InvalidDataException refused = Assert.Throws<InvalidDataException>(() => ValueImage.Read<object[]>(image, static (_, _) => { }));
        Assert.Contains("HashSet<KeyedStateTests.Club> cannot be restored: its keys are equal or not by what it holds itself "
            + "(an element → field KeyedStateTests.Club.Of → an element → field KeyedStateTests.Club.All)", refused.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Type_NestedAsDeepAsAReaderTakes_IsWrittenAndRead()
    {
        object at = Nested(32), beyond = Nested(33);
        Assert.Equal(at.GetType(), ValueImage.Read<object[]>(Written(at), static (_, _) => { })[0].GetType());
        Assert.Contains("more than 32 generic types", Assert.Throws<NotWritableException>(() => Written(beyond)).Message,
            StringComparison.Ordinal);
    }

    private static object Nested(int depth)
    {
        Type type = typeof(int);
        for (int i = 0; i < depth; i++) type = typeof(List<>).MakeGenericType(type);
        return Activator.CreateInstance(type)!;
    }

    private static byte[] Written(object value)
    {
        var written = new ArrayBufferWriter<byte>();
        ValueImage.Write(written, new[] { value });
        return written.WrittenSpan.ToArray();
    }

    private static FakeCoordinator Restored(byte[] image)
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<KeyHolder>());
        coordinator.Welcome(image);
        coordinator.Said.Clear();
        return coordinator;
    }

    internal sealed class Coarse
    {
        internal int Value { get; set; }

        public override bool Equals(object? obj) => obj is Coarse other && other.Value == Value;

        public override int GetHashCode() => 1;
    }

    internal sealed class Club
    {
        internal HashSet<Club>? All { get; init; }

        internal (Club Club, int)[]? Of { get; init; }

        public override bool Equals(object? obj) => ReferenceEquals(obj, this);

        public override int GetHashCode() => Of?[0].Club.All!.Count >= 1 ? 7 : 0;
    }
}
