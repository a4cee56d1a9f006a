using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;

namespace Ambrosia.Binding.Tests;

[Data]
public sealed record Ware(string Name);

[Data]
public sealed record Stock(IReadOnlyDictionary<string, int> Prices, IReadOnlySet<Ware> Wares);

public interface IWares
{
    [MethodId(1)]
    void Go(int seed);

    [MethodId(2)]
    void Map(IReadOnlyDictionary<string, int> prices);

    [MethodId(3)]
    void AnyMap(IDictionary<Guid, string> prices);

    [MethodId(4)]
    void Set(ISet<string?> names);

    [MethodId(5)]
    void ReadOnlySet(IReadOnlySet<Ware> wares);

    [MethodId(6)]
    void Collection(ICollection<string> names);

    [MethodId(7)]
    void ReadOnlyCollection(IReadOnlyCollection<(string, int)> names);

    [MethodId(8)]
    void Fixed(ImmutableDictionary<string, int> prices);

    [MethodId(9)]
    void Data(Stock stock);

    [MethodId(10)]
    void Sorted(SortedSet<string> names);

    [MethodId(11)]
    void SortedMap(SortedDictionary<string, int> prices);

    [MethodId(12)]
    void FixedSorted(ImmutableSortedDictionary<string, int> prices);

    [MethodId(13)]
    void Numbers(ICollection<int> numbers);

    [MethodId(14)]
    void GoSorted(bool byOthers);
}

/// <summary>Sends collections whose order is that of hash codes, which follow from a seed, behind each interface.</summary>
public sealed partial class Wares : Immortal<IWares>, IWares
{
    private static readonly string[] s_names = [.. Enumerable.Range(0, 40).Select(static n => $"ware {n}")];

    internal static readonly string[] Letters = ["z", "å", "C", "a", "ä", "b", "Ö", "y"];

    internal IWaresProxy Other => GetProxy<IWares>("other");

    public void Go(int seed)
    {
        var other = GetProxy<IWares>("other");
        ImmutableDictionary<string, int> prices = ImmutableDictionary.CreateRange(new Seeded<string>(seed),
            s_names.Select(static (name, i) => KeyValuePair.Create(name, i)));
        Dictionary<Guid, string> byId = s_names.Select(static (name, i) => (name, id: new Guid(i, 1, 2, new byte[8])))
            .ToDictionary(static each => each.id, static each => each.name);
        IEnumerable<Ware> wares = s_names.Select(static name => new Ware(name));
        other.MapFork(prices);
        other.MapFork(prices.ToFrozenDictionary(new Seeded<string>(seed)));
        other.MapFork(new ConcurrentDictionary<string, int>(prices, new Seeded<string>(seed)));
        other.MapFork(new ReadOnlyDictionary<string, int>(prices));
        other.AnyMapFork(byId.ToFrozenDictionary(new Seeded<Guid>(seed)));
        other.SetFork(s_names.ToImmutableHashSet<string?>(new Seeded<string?>(seed)));
        other.ReadOnlySetFork(wares.ToFrozenSet(new Seeded<Ware>(seed)));
        other.ReadOnlySetFork(wares.ToImmutableHashSet(new Seeded<Ware>(seed)));
        other.CollectionFork(prices.ToBuilder().Keys is ICollection<string> keys ? keys : []);
        other.CollectionFork(((IDictionary<string, int>)prices).Keys);
        other.CollectionFork(s_names.ToImmutableHashSet(new Seeded<string>(seed)).ToBuilder());
        other.ReadOnlyCollectionFork(s_names.Select(static (name, i) => (name, i)).ToFrozenSet(new Seeded<(string, int)>(seed)));
        other.FixedFork(prices);
        // Keys that an app's comparer tells apart and the order of values does not.
        other.FixedFork(ImmutableDictionary.CreateRange(new Separate(seed),
            s_names.Select(static (_, i) => KeyValuePair.Create(new string("same"), i))));
        other.DataFork(new Stock(prices, wares.ToImmutableHashSet(new Seeded<Ware>(seed))));
    }

    public void Map(IReadOnlyDictionary<string, int> prices)
    {
    }

    public void AnyMap(IDictionary<Guid, string> prices)
    {
    }

    public void Set(ISet<string?> names)
    {
    }

    public void ReadOnlySet(IReadOnlySet<Ware> wares)
    {
    }

    public void Collection(ICollection<string> names)
    {
    }

    public void ReadOnlyCollection(IReadOnlyCollection<(string, int)> names)
    {
    }

    public void Fixed(ImmutableDictionary<string, int> prices)
    {
    }

    public void Data(Stock stock)
    {
    }

    public void Sorted(SortedSet<string> names)
    {
    }

    public void SortedMap(SortedDictionary<string, int> prices)
    {
    }

    public void FixedSorted(ImmutableSortedDictionary<string, int> prices)
    {
    }

    public void Numbers(ICollection<int> numbers)
    {
    }

    public void GoSorted(bool byOthers)
    {
        IWaresProxy other = Other;
        // A collection of texts without a comparer is compared as the culture of the process does, which this suite has none of.
        StringComparer culture = byOthers ? StringComparer.InvariantCultureIgnoreCase : StringComparer.Ordinal;
        IComparer<string> any = Comparer<string>.Create((a, b) => byOthers ? string.CompareOrdinal(b, a) : string.CompareOrdinal(a, b));
        var prices = new SortedDictionary<string, int>(any);
        foreach (string name in Letters) prices.Add(name, name[0]);
        other.SortedFork(new SortedSet<string>(Letters, any));
        other.SetFork(new SortedSet<string?>(Letters, culture));
        other.CollectionFork(new SortedSet<string>(Letters, culture));
        other.SetFork(ImmutableSortedSet.CreateRange<string?>(culture, Letters));
        other.CollectionFork(ImmutableSortedSet.CreateRange(culture, Letters));
        other.SortedMapFork(prices);
        other.MapFork(new SortedDictionary<string, int>(prices, culture));
        other.MapFork(new SortedList<string, int>(prices, culture));
        other.MapFork(prices.ToImmutableSortedDictionary(culture));
        other.FixedSortedFork(prices.ToImmutableSortedDictionary(any));
        other.CollectionFork(prices.Keys);
        other.CollectionFork(new SortedList<string, int>(prices, any).Keys);
        other.NumbersFork(prices.Values);
    }

    /// <summary>Hashes as another process would. Seed 0 leaves the hash codes as they are.</summary>
    private sealed class Seeded<T>(int seed) : IEqualityComparer<T>
    {
        public bool Equals(T? x, T? y) => EqualityComparer<T>.Default.Equals(x, y);

        public int GetHashCode(T value) => seed == 0 ? EqualityComparer<T>.Default.GetHashCode(value!) : HashCode.Combine(seed, value);
    }

    private sealed class Separate(int seed) : IEqualityComparer<string>
    {
        private int _next = seed;

        public bool Equals(string? x, string? y) => ReferenceEquals(x, y);

        public int GetHashCode(string value) => HashCode.Combine(_next++, value);
    }
}

/// <summary>Collections travel in an order that is the same in every process, whatever interface they stand behind.</summary>
public sealed class TravelOrderTests
{
    private readonly Wares _sender = new();

    private IWaresProxy Other => _sender.Other;

    [Fact]
    public void Interface_OfAnImmutableMap_TravelsInOneOrder()
    {
        string[] first = Sent(1);
        for (int seed = 2; seed < 6; seed++)
        {
            string[] again = Sent(seed);
            for (int i = 0; i < first.Length; i++) Assert.Equal(first[i], again[i]);
        }
    }

    /// <summary>Within one process the hash codes of a text are always the same, so two are asked.</summary>
    [Fact]
    public void Interface_OfHashedCollections_TravelInOneOrderInTwoProcesses()
    {
        string one = Processes.Said("travel-order"), two = Processes.Said("travel-order");
        Assert.Contains("'ware 39'", one, StringComparison.Ordinal);
        Assert.Equal(one, two);
        Assert.Equal(one, SentByThisProcess());
    }

    /// <summary>The same values have the same bytes whether their contract names the type or an interface, as keys ask.</summary>
    [Fact]
    public void Interface_AndType_HaveOneEncoding()
    {
        string[] sent = Sent(1);
        Assert.Equal(Arguments(sent, method: 8)[0], Arguments(sent, method: 2)[0]);
    }

    [Fact]
    public void Interface_OfWhatKeepsAnOrder_TravelsInIt()
    {
        string[] names = ["c", "a", "b"];
        Assert.Equal(names, Arrived<ICollection<string>>(Of(to => to.CollectionFork(new List<string>(names)))));
        Assert.Equal(names, Arrived<ICollection<string>>(Of(to => to.CollectionFork(names))));
        Assert.Equal(names, Arrived<ICollection<string>>(Of(to => to.CollectionFork(new HashSet<string>(names)))));
        Assert.Equal(names, Arrived<ICollection<string>>(Of(to => to.CollectionFork(new LinkedList<string>(names)))));
        Assert.Equal(names, Arrived<ICollection<string>>(Of(to =>
            to.CollectionFork(names.ToDictionary(static each => each).Keys))));
        Assert.Equal(names, Arrived<ICollection<string>>(Of(to => to.CollectionFork([.. names]))));
        Assert.Equal(names, Arrived<ICollection<string>>(Of(to => to.CollectionFork(new Ring(names)))));
        Assert.Equal(names, Arrived<IReadOnlyDictionary<string, int>>(Of(to =>
            to.MapFork(names.ToDictionary(static each => each, static _ => 1)))).Keys);
        Assert.Equal(names, Arrived<IReadOnlyDictionary<string, int>>(Of(to =>
            to.MapFork(new OrderedDictionary<string, int>(names.Select(static each => KeyValuePair.Create(each, 1)))))).Keys);
        Assert.Equal(["a", "b", "c"], Arrived<IReadOnlyDictionary<string, int>>(Of(to =>
            to.MapFork(names.ToFrozenDictionary(static each => each, static _ => 1)))).Keys);
    }

    /// <summary>The receiver of a sorted type sorts again, and a culture is another one in the next process.</summary>
    [Fact]
    public void Sorted_TextsByOtherComparers_TravelInOneOrder()
    {
        string[] one = SentSorted(byOthers: true), two = SentSorted(byOthers: false);
        Assert.True(two.Length >= 13, $"{two.Length} messages");
        Assert.Equal(two.Length, one.Length);
        for (int i = 0; i < one.Length; i++) Assert.Equal(two[i], one[i]);
    }

    [Fact]
    public void Sorted_ByAComparerOfTheApp_TravelsInItsOrderBehindAnInterface()
    {
        var sorted = new SortedSet<string>(Wares.Letters, Comparer<string>.Create(static (a, b) => string.CompareOrdinal(b, a)));
        Assert.Equal(sorted, Arrived<ICollection<string>>(Of(to => to.CollectionFork(sorted))));
        Assert.Equal([3, 2, 1], Arrived<ICollection<int>>(Of(to =>
            to.NumbersFork(new SortedSet<int>([1, 3, 2], Comparer<int>.Create(static (a, b) => b.CompareTo(a)))))));
    }

    private static string[] SentSorted(bool byOthers)
    {
        FakeCoordinator sender = FakeCoordinator.Started<Wares>();
        sender.Deliver(FakeCoordinator.Fork(14, byOthers));
        return [.. sender.Said];
    }

    /// <summary>What the process says that this test is compared with.</summary>
    internal static string SentByThisProcess() => string.Join('\n', Sent(0)) + "\n";

    private static string[] Sent(int seed)
    {
        FakeCoordinator sender = FakeCoordinator.Started<Wares>();
        sender.Deliver(FakeCoordinator.Fork(1, seed));
        return [.. sender.Said];
    }

    private static string[] Arguments(string[] said, int method) =>
        [.. said.Where(line => line.Contains($" {method} ", StringComparison.Ordinal))
            .Select(line => line[line.IndexOf('[', StringComparison.Ordinal)..])];


    private RecordedCall Of(Action<IWaresProxy> send)
    {
        send(Other);
        return TestSession.Of(_sender).Calls[^1];
    }

    private static T Arrived<T>(RecordedCall message) => (T)Assert.Single(message.Arguments)!;

    /// <summary>An app's own list without an index, which keeps its order.</summary>
    private sealed class Ring(string[] names) : ICollection<string>
    {
        public int Count => names.Length;

        public bool IsReadOnly => true;

        public void Add(string item) => throw new NotSupportedException();

        public void Clear() => throw new NotSupportedException();

        public bool Contains(string item) => names.Contains(item);

        public void CopyTo(string[] array, int arrayIndex) => names.CopyTo(array, arrayIndex);

        public bool Remove(string item) => throw new NotSupportedException();

        public IEnumerator<string> GetEnumerator() => ((IEnumerable<string>)names).GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => names.GetEnumerator();
    }
}
