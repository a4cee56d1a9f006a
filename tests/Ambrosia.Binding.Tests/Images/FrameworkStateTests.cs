using System.Collections;
using System.Collections.Immutable;
using System.Numerics;
using System.Text;
using Ambrosia.State;
using static Ambrosia.Binding.Tests.Images.GraphBytes;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>The framework's types that are neither numbers nor mutable collections, in images.</summary>
public sealed class FrameworkStateTests
{
    [Fact]
    public void Values_OfTextAndBits_ComeBack()
    {
        object[] read = Again(new Uri("/a?b=c", UriKind.Relative), new Uri("http://x/"), new Version(1, 2, 3), BigInteger.Pow(-7, 99),
            new StringBuilder("ab\ud800"), new BitArray([true, false, true, true, false, false, false, true, true]), new BitArray(0));
        Assert.Equal(["/a?b=c", "http://x/", "1.2.3", BigInteger.Pow(-7, 99).ToString()], read[..4].Select(static each => each.ToString()));
        Assert.Equal("ab\ud800", read[4].ToString());
        Assert.Equal([true, false, true, true, false, false, false, true, true], ((BitArray)read[5]).Cast<bool>());
        Assert.Equal(0, ((BitArray)read[6]).Length);
    }

    [Fact]
    public void Builder_ThatTwoRefersTo_StaysOne()
    {
        var text = new StringBuilder("a");
        object[] read = Again(text, text);
        Assert.Same(read[0], read[1]);
    }

    [Fact]
    public void PriorityQueue_OfEqualPriorities_GivesTheSameOrder()
    {
        var random = new Random(5);
        for (int round = 0; round < 50; round++)
        {
            var queue = new PriorityQueue<string, int>();
            for (int i = 0; i < 30; i++)
            {
                queue.Enqueue($"{i}", random.Next(4));
                if (random.Next(3) == 0) queue.Dequeue();
            }
            var again = (PriorityQueue<string, int>)Again(queue)[0];
            while (queue.Count > 0) Assert.Equal(queue.Dequeue(), again.Dequeue());
            Assert.Equal(0, again.Count);
        }
    }

    [Fact]
    public void ImmutableCollections_ComeBackWithOrderAndComparer()
    {
        object[] read = Again(
            ImmutableList.Create(3, 1, 2), ImmutableQueue.Create("a", "b"), ImmutableStack.Create(1, 2),
            ImmutableSortedSet.Create(StringComparer.Ordinal, "b", "B", "a"),
            ImmutableHashSet.Create(StringComparer.OrdinalIgnoreCase, "x", "Y"),
            ImmutableSortedDictionary<int, string>.Empty.Add(2, "two").Add(1, "one"),
            ImmutableDictionary<string, int>.Empty.Add("k", 5).Add("j", 6));
        Assert.Equal([3, 1, 2], ((ImmutableList<int>)read[0]).ToArray());
        Assert.Equal(["a", "b"], ((ImmutableQueue<string>)read[1]).ToArray());
        Assert.Equal([2, 1], ((ImmutableStack<int>)read[2]).ToArray());
        Assert.Equal(["B", "a", "b"], ((ImmutableSortedSet<string>)read[3]).ToArray());
        Assert.Contains("y", (ImmutableHashSet<string>)read[4]);
        Assert.Equal([1, 2], ((ImmutableSortedDictionary<int, string>)read[5]).Keys);
        Assert.Equal((5, 6), (((ImmutableDictionary<string, int>)read[6])["k"], ((ImmutableDictionary<string, int>)read[6])["j"]));
        // They go on like any other.
        Assert.Equal(4, ((ImmutableList<int>)read[0]).Add(9).Count);
        Assert.Equal(3, ((ImmutableDictionary<string, int>)read[6]).Add("i", 1).Count);
    }

    [Fact]
    public void ImmutableList_InACycle_ComesBack()
    {
        var ring = new object[2];
        ring[0] = ImmutableList.Create<object>(ring, "end");
        var read = (object[])Read(Written(ring));
        Assert.Same(read, ((ImmutableList<object>)read[0])[0]);
    }

    /// <summary>The order of these is that of hash codes, which are others in each process: an image has another order.</summary>
    [Fact]
    public void HashedImmutables_MadeInAnyOrder_HaveOneImage()
    {
        string[] words = [.. Enumerable.Range(0, 200).Select(static n => $"word {n * 7919 % 200}")];
        Assert.Equal(Written(new object[] { words.ToImmutableHashSet() }), Written(new object[] { words.Reverse().ToImmutableHashSet() }));
        byte[] image = Written(new object[] { words.ToImmutableDictionary(static word => word, static word => word.Length) });
        int at = 0;
        foreach (string word in words.Order(StringComparer.Ordinal))
            Assert.True((at = image.AsSpan(at).IndexOf(Encoding.UTF8.GetBytes(word)) + at) > 0, word);
    }

    /// <summary>A process has an empty collection once, a restored one has two: the image must not tell them apart.</summary>
    [Fact]
    public void EmptyImmutables_AreOneObject_AlsoBehindARestore()
    {
        object[] state = [ImmutableList<int>.Empty, ImmutableList<int>.Empty, ImmutableDictionary<string, int>.Empty];
        object[] read = Again(state);
        Assert.Equal(Written(state), Written(new[] { read[0], ImmutableList<int>.Empty, ImmutableDictionary<string, int>.Empty }));
    }

    /// <summary>Keys that are equal by such members would not be found any more by keys that are made behind the restore.</summary>
    [Fact]
    public void EmptyOnes_ComeBackAsThoseOfTheProcess()
    {
        static Tags Empty() => new([], [], [], ImmutableDictionary<string, int>.Empty, [], ImmutableSortedSet<string>.Empty);
        Tags written = Empty();
        object[] read = Again(written, new Dictionary<Tags, int> { [written] = 5 }, Array.Empty<int>(), ImmutableStack<int>.Empty);
        Assert.Equal(Empty(), read[0]);
        Assert.Equal(5, ((Dictionary<Tags, int>)read[1])[Empty()]);
        Assert.Same(Array.Empty<int>(), read[2]);
        Assert.Same(ImmutableStack<int>.Empty, read[3]);
        var other = (ImmutableHashSet<string>)Again(ImmutableHashSet.Create<string>(StringComparer.OrdinalIgnoreCase))[0];
        Assert.Equal((StringComparer.OrdinalIgnoreCase, 0), (other.KeyComparer, ImmutableHashSet<string>.Empty.Count));
        Assert.Contains("A", other.Add("a"));
    }

    private sealed record Tags(string[] Names, ImmutableArray<int> Fixed, ImmutableList<Tags> Others, ImmutableDictionary<string, int> Map,
        ImmutableQueue<int> Queue, ImmutableSortedSet<string> Sorted);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void Collections_OfNoKnownOrder_AreRefused(int which) => Assert.Throws<NotWritableException>(() => Written(new object[]
    {
        which switch
        {
            0 => ImmutableHashSet.Create(new object()),
            1 => ImmutableDictionary<(int, int), int>.Empty.Add((1, 2), 3),
            _ => new System.Collections.Concurrent.ConcurrentDictionary<int, int>(),
        },
    }));

    private static object[] Again(params object[] state) => (object[])Read(Written(state));
}
