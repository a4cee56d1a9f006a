using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Numerics;

namespace Ambrosia.Binding.Tests;

public interface ICollections
{
    void Sets(HashSet<string> plain, ISet<int> any, IReadOnlySet<int>? none, SortedSet<string> sorted, IReadOnlyCollection<Version> few);

    void Fixed(ImmutableArray<int> array, ImmutableList<string> list, ImmutableSortedSet<string> sorted, ImmutableHashSet<string> hashed,
        FrozenSet<int> frozen);

    void Maps(ImmutableDictionary<string, int> hashed, ImmutableSortedDictionary<string, Uri> sorted, FrozenDictionary<int, string> frozen,
        IImmutableDictionary<Guid, List<int>>? none);

    void Values(Uri at, Uri? none, Version version, BigInteger number, BigInteger? maybe);

    void Held(Crate crate);
}

[Data]
public sealed record Crate(ImmutableArray<ImmutableArray<int>> Rows, HashSet<Uri> Links, ImmutableDictionary<int, BigInteger> Sums);

public sealed partial class Collections : Immortal<ICollections>, ICollections
{
    internal ICollectionsProxy Other => GetProxy<ICollections>("other");

    public void Sets(HashSet<string> plain, ISet<int> any, IReadOnlySet<int>? none, SortedSet<string> sorted,
        IReadOnlyCollection<Version> few)
    {
    }

    public void Fixed(ImmutableArray<int> array, ImmutableList<string> list, ImmutableSortedSet<string> sorted,
        ImmutableHashSet<string> hashed, FrozenSet<int> frozen)
    {
    }

    public void Maps(ImmutableDictionary<string, int> hashed, ImmutableSortedDictionary<string, Uri> sorted,
        FrozenDictionary<int, string> frozen, IImmutableDictionary<Guid, List<int>>? none)
    {
    }

    public void Values(Uri at, Uri? none, Version version, BigInteger number, BigInteger? maybe)
    {
    }

    public void Held(Crate crate)
    {
    }
}

/// <summary>Sends each kind of collection and value, and looks at what arrives: a test's recorded call is encoded and decoded.</summary>
public sealed class CollectionTravelTests
{
    private readonly Collections _sender = new();

    private IReadOnlyList<object?> Arrived => Assert.Single(TestSession.Of(_sender).Calls).Arguments;

    [Fact]
    public void Sets_ComeBack()
    {
        _sender.Other.SetsFork(["b", "a"], new HashSet<int> { 3, 1 }, null, new(StringComparer.Ordinal) { "z", "B" }, [new(1, 2)]);
        Assert.Equal(["b", "a"], (HashSet<string>)Arrived[0]!);
        Assert.Equal([3, 1], (ISet<int>)Arrived[1]!);
        Assert.Null(Arrived[2]);
        Assert.Equal(["B", "z"], (SortedSet<string>)Arrived[3]!);
        Assert.Equal(new Version(1, 2), Assert.Single((IReadOnlyCollection<Version>)Arrived[4]!));
    }

    [Fact]
    public void ImmutableAndFrozen_ComeBack()
    {
        _sender.Other.FixedFork(default, ["x", "y"], ["c", "A"], ["q", "p"], new[] { 2, 1 }.ToFrozenSet());
        Assert.Empty((ImmutableArray<int>)Arrived[0]!); // one that was never made travels as an empty one
        Assert.Equal(["x", "y"], ((ImmutableList<string>)Arrived[1]!).ToArray());
        Assert.Equal(["A", "c"], ((ImmutableSortedSet<string>)Arrived[2]!).ToArray());
        Assert.Equal(new HashSet<string> { "p", "q" }, ((ImmutableHashSet<string>)Arrived[3]!).ToHashSet());
        Assert.Equal(new HashSet<int> { 1, 2 }, ((FrozenSet<int>)Arrived[4]!).ToHashSet());
    }

    [Fact]
    public void Maps_ComeBack()
    {
        _sender.Other.MapsFork(ImmutableDictionary<string, int>.Empty.Add("b", 2).Add("a", 1),
            ImmutableSortedDictionary<string, Uri>.Empty.Add("k", new Uri("/x", UriKind.Relative)),
            new Dictionary<int, string> { [5] = "five" }.ToFrozenDictionary(), null);
        Assert.Equal(1, ((ImmutableDictionary<string, int>)Arrived[0]!)["a"]);
        Assert.Equal("/x", ((ImmutableSortedDictionary<string, Uri>)Arrived[1]!)["k"].OriginalString);
        Assert.Equal("five", ((FrozenDictionary<int, string>)Arrived[2]!)[5]);
        Assert.Null(Arrived[3]);
    }

    /// <summary>A path is a relative Uri by its text, off Windows, although it may have been an absolute one.</summary>
    [Theory]
    [InlineData("/var/data/x.bin")]
    [InlineData("//server/share/x.bin")]
    public void Uri_ThatNamesAFile_ArrivesAbsolute(string text)
    {
        _sender.Other.ValuesFork(new Uri(text, UriKind.Absolute), new Uri(text, UriKind.Relative), new Version(1, 2), 1, null);
        var (at, relative) = ((Uri)Arrived[0]!, (Uri)Arrived[1]!);
        Assert.Equal((true, new Uri(text, UriKind.Absolute)), (at.IsAbsoluteUri, at));
        Assert.False(relative.IsAbsoluteUri);
    }

    [Fact]
    public void Uri_WhoseTextWouldArriveAsAnother_IsRefused()
    {
        ArgumentException refused = Assert.ThrowsAny<ArgumentException>(
            () => _sender.Other.ValuesFork(new Uri("c:/x", UriKind.Relative), null, new Version(1, 2), 1, null));
        Assert.Contains("The System.Uri 'c:/x' cannot travel", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Values_ComeBack()
    {
        BigInteger large = -BigInteger.Pow(3, 200);
        _sender.Other.ValuesFork(new Uri("http://a/b?c"), null, new Version(4, 5, 6, 7), large, null);
        Assert.Equal([new Uri("http://a/b?c"), null, new Version(4, 5, 6, 7), large, null], Arrived);
    }

    [Fact]
    public void Data_OfCollections_ComesBack()
    {
        _sender.Other.HeldFork(new Crate([[1, 2], []], [new Uri("http://a/")], ImmutableDictionary<int, BigInteger>.Empty.Add(1, 2)));
        var crate = (Crate)Arrived[0]!;
        Assert.Equal([1, 2], crate.Rows[0].ToArray());
        Assert.Empty(crate.Rows[1]);
        Assert.Equal(new Uri("http://a/"), Assert.Single(crate.Links));
        Assert.Equal(2, crate.Sums[1]);
    }

    /// <summary>What travels is under channel hashes, so the order of hash codes, which each process has its own, must not show.</summary>
    [Fact]
    public void Hashed_MadeInAnyOrder_HaveOneEncoding()
    {
        string[] words = [.. Enumerable.Range(0, 100).Select(static n => $"word {n * 37 % 100}")];
        FakeCoordinator one = Sent(words), two = Sent([.. words.Reverse()]);
        Assert.Equal(one.Said, two.Said);
        string sent = Assert.Single(one.Said, static line => line.StartsWith("fork", StringComparison.Ordinal));
        int at = 0;
        foreach (string word in words.Order(StringComparer.Ordinal))
            Assert.True((at = sent.IndexOf($"'{word}'", at, StringComparison.Ordinal)) > 0, word);
    }

    private static FakeCoordinator Sent(string[] words)
    {
        FakeCoordinator sender = FakeCoordinator.Started<HashSender>();
        sender.Deliver(FakeCoordinator.Fork(1, (object)words));
        return sender;
    }
}

public interface IHashSender
{
    [MethodId(1)]
    void Go(string[] words);

    [MethodId(2)]
    void Take(ImmutableHashSet<string> words);
}

public sealed partial class HashSender : Immortal<IHashSender>, IHashSender
{
    public void Go(string[] words) => GetProxy<IHashSender>("other").TakeFork([.. words]);

    public void Take(ImmutableHashSet<string> words)
    {
    }
}
