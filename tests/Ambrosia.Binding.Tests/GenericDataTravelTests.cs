namespace Ambrosia.Binding.Tests;

[Data]
public struct Couple<TFirst, TSecond>
    where TFirst : notnull
{
    [Field(2)]
    public TFirst First;

    public TSecond? Second { get; init; }
}

[Data]
public class Branch<T>
    where T : struct
{
    public T Value { get; init; } = default;

    public string Kept { get; init; } = "kept";

    public List<Branch<T>> Twigs { get; set; } = [];

    public Branch<T>? Best { get; init; }
}

[Data]
public sealed record Labelled<T>(T Value, string? Label = "none")
{
    public required T[] Others { get; init; }
}

/// <summary>Data that is not generic itself, and derives from what is.</summary>
[Data]
public sealed class Dated : Branch<DateOnly>
{
    public int Year => Value.Year;
}

public interface IGenerics
{
    void Couples(Couple<string, int?> one, Couple<int, string>? maybe, Couple<string, Couple<int, byte[]>>[] many);

    void Trees(Branch<long> tree, Branch<DayOfWeek>? none, Dated dated);

    void Labels(Labelled<string?> text, Labelled<List<Labelled<int>>> nested, Labelled<(int A, Labelled<bool>? B)> pair);
}

public sealed partial class Generics : Immortal<IGenerics>, IGenerics
{
    internal IGenericsProxy Other => GetProxy<IGenerics>("other");

    public void Couples(Couple<string, int?> one, Couple<int, string>? maybe, Couple<string, Couple<int, byte[]>>[] many)
    {
    }

    public void Trees(Branch<long> tree, Branch<DayOfWeek>? none, Dated dated)
    {
    }

    public void Labels(Labelled<string?> text, Labelled<List<Labelled<int>>> nested, Labelled<(int A, Labelled<bool>? B)> pair)
    {
    }
}

/// <summary>Sends each form of a generic data type, and looks at what arrives: a test's recorded call is encoded and decoded.</summary>
public sealed class GenericDataTravelTests
{
    private readonly Generics _sender = new();

    private IReadOnlyList<object?> Arrived => Assert.Single(TestSession.Of(_sender).Calls).Arguments;

    [Fact]
    public void Structs_ComeBack()
    {
        _sender.Other.CouplesFork(new() { First = "a", Second = 3 }, new() { First = 1, Second = "b" },
            [new() { First = "c", Second = new() { First = 4, Second = [7] } }, new() { First = "d" }]);
        var one = (Couple<string, int?>)Arrived[0]!;
        var maybe = (Couple<int, string>)Arrived[1]!;
        var many = (Couple<string, Couple<int, byte[]>>[])Arrived[2]!;
        Assert.Equal(("a", 3, 1, "b"), (one.First, one.Second, maybe.First, maybe.Second));
        Assert.Equal(("c", 4, "d", 0), (many[0].First, many[0].Second.First, many[1].First, many[1].Second.First));
        Assert.Equal([7], many[0].Second.Second!);
        Assert.Null(many[1].Second.Second);
    }

    [Fact]
    public void TypesWithinThemselves_ComeBack()
    {
        var twig = new Branch<long> { Value = 1, Kept = "own" };
        _sender.Other.TreesFork(new() { Value = 2, Twigs = [twig, new() { Best = twig }], Best = twig }, null,
            new Dated { Value = new DateOnly(2026, 1, 2), Twigs = [new()] });
        var tree = (Branch<long>)Arrived[0]!;
        Assert.Equal((2, 1, "own", "kept", 1), (tree.Value, tree.Best!.Value, tree.Best.Kept, tree.Kept, tree.Twigs[1].Best!.Value));
        Assert.Null(Arrived[1]);
        var dated = (Dated)Arrived[2]!;
        Assert.Equal((2026, default), (dated.Year, dated.Twigs[0].Value));
    }

    [Fact]
    public void RecordsAndRequiredMembers_ComeBack()
    {
        _sender.Other.LabelsFork(new(null, null) { Others = ["x", null] }, new([new(5) { Others = [6] }]) { Others = [[], []] },
            new((1, new(true, "t") { Others = [] })) { Others = [(2, null)] });
        var text = (Labelled<string?>)Arrived[0]!;
        var nested = (Labelled<List<Labelled<int>>>)Arrived[1]!;
        var pair = (Labelled<(int A, Labelled<bool>? B)>)Arrived[2]!;
        Assert.Equal((null, null), (text.Value, text.Label));
        Assert.Equal(new string?[] { "x", null }, (IEnumerable<string?>)text.Others);
        Assert.Equal((5, "none", 2), (nested.Value[0].Value, nested.Value[0].Label, nested.Others.Length));
        Assert.Equal((1, true, "t", 2, null), (pair.Value.A, pair.Value.B!.Value, pair.Value.B.Label, pair.Others[0].A, pair.Others[0].B));
    }
}
