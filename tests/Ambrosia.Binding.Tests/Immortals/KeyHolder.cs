using System.Collections.Immutable;

namespace Ambrosia.Binding.Tests;

public interface IKeyHolder
{
    [MethodId(1)]
    void Fill();

    [MethodId(2)]
    void Spoil(int how);
}

/// <summary>A key by the name alone.</summary>
public sealed record Person(string Name);

/// <summary>A key that is equal by the set that it holds.</summary>
public sealed class Party(params IEnumerable<string> names)
{
    internal HashSet<Person> Members { get; } = [.. names.Select(static each => new Person(each))];

    public override bool Equals(object? obj) => obj is Party other && other.Members.SetEquals(Members);

    public override int GetHashCode() => Members.Aggregate(0, static (sum, each) => sum + each.GetHashCode());
}

/// <summary>A key that is ordered by the values of a map, and equal by it.</summary>
public sealed class Ranked(string name, int rank) : IComparable<Ranked>
{
    internal Dictionary<Person, int> Ranks { get; } = new() { [new Person("rank")] = rank, [new Person(name)] = 0 };

    public int CompareTo(Ranked? other) => Ranks[new Person("rank")].CompareTo(other!.Ranks[new Person("rank")]);
}

/// <summary>A key by its number, in a net of others: what it holds has no part in its equality.</summary>
public sealed class Member(int number)
{
    internal int Number { get; set; } = number;
    internal HashSet<Member> Friends { get; } = [];
    internal Dictionary<Party, Member> ByParty { get; } = [];

    public override bool Equals(object? obj) => obj is Member other && other.Number == Number;

    public override int GetHashCode() => Number;
}

/// <summary>Keys that are equal by what other collections hold.</summary>
public sealed partial class KeyHolder : Immortal<IKeyHolderProxy>, IKeyHolder
{
    // The outer ones are mentioned first, so that their objects have the lower numbers.
    internal HashSet<HashSet<Party>>? ByIdentity;
    internal Dictionary<(Party, string), int>? ByPair;
    internal HashSet<Party>? Parties;
    internal Dictionary<Party, long>? Tabs;
    internal SortedSet<Ranked>? Ranking;
    internal ImmutableSortedSet<Ranked>? FixedRanking;
    internal SortedDictionary<Ranked, Party>? RankedParties;
    internal Dictionary<Party, string>? Holey;
    internal PriorityQueue<string, Ranked>? Queue;
    internal Dictionary<object, int>? Mixed;
    internal Member? First;
    internal Dictionary<Person, int>? Plain;
    internal Dictionary<Member, string>? Numbers;
    internal HashSet<(Member, int)>? Pairs;
    internal SortedList<Ranked, int>? List;

    public void Fill()
    {
        Parties = [new("ann", "bob"), new("carl"), new()];
        ByIdentity = [Parties, [new("z")]];
        ByPair = new() { [(new("ann"), "x")] = 1, [(new("bob"), "x")] = 2 };
        Tabs = new() { [new("carl")] = 100, [new("ann")] = 7, [new("dora", "ann")] = 8 };
        Ranking = [new("c", 3), new("a", 1), new("b", 2)];
        FixedRanking = [new("c", 3), new("a", 1), new("b", 2)];
        RankedParties = new() { [new("y", 2)] = new("x"), [new("z", 1)] = new("y") };
        Holey = new() { [new("a")] = "a", [new("b")] = "b", [new("c")] = "c" };
        Holey.Remove(new Party("b"));
        Queue = new([("two", new("q", 2)), ("one", new("p", 1)), ("three", new("r", 3))]);
        Mixed = new() { [new Party("m")] = 1, [new Party("n")] = 2, ["text"] = 3, [(new Party("t"), 4)] = 4 };
        Member[] all = [new(1), new(2), new(3)];
        foreach (Member each in all)
        {
            each.Friends.UnionWith(all);
            each.ByParty[new("a", "b")] = all[0];
            each.ByParty[new("c")] = each;
        }
        First = all[0];
        Plain = new() { [new Person("plain1")] = 1, [new Person("plain2")] = 2 };
        Numbers = new() { [new Member(1)] = "1", [new Member(2)] = "2", [new Member(3)] = "3" };
        Pairs = [(new Member(1), 0), (new Member(2), 0)];
        List = new() { [new("a", 1)] = 1, [new("b", 2)] = 2 };
    }

    public void Spoil(int how)
    {
        switch (how)
        {
            case 0: Parties!.First().Members.Add(new Person("late")); break;
            case 1: Numbers!.Keys.ElementAt(2).Number = 1; break;
            case 2:
                Numbers!.Remove(new Member(2));
                Numbers.Keys.ElementAt(1).Number = 9;
                break;
            case 3: Ranking!.Max!.Ranks[new Person("rank")] = 0; break;
            case 4: Queue!.Peek(); Queue.UnorderedItems.First().Priority.Ranks[new Person("rank")] = 9; break;
            case 5: Pairs!.First().Item1.Number = 2; break;
            case 6: List!.Keys[0].Ranks[new Person("rank")] = 2; break;
            case 7: FixedRanking![0].Ranks[new Person("rank")] = 5; break;
            case 8: Parties!.First().Members.Add(null!); break;
            default: throw new ArgumentOutOfRangeException(nameof(how));
        }
    }
}
