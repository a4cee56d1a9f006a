namespace Ambrosia.Binding.Tests.Vectors;

// The contract of protocol/vectors/Vectors.contract.json, as C# declares it. Values of its types are in protocol/vectors/contract.json.

public enum Colour : byte
{
    Red,
    Green = 5,
    Blue,
    Lime = 5,
}

public enum Depth : long
{
    Least = long.MinValue,
    Most = long.MaxValue,
}

[Data]
public sealed record Point(int X, [property: Field(1)] int Y = 7);

[Data]
public struct Place
{
    public short Row { get; set; }

    public Guid Id { get; set; }

    public Colour? Tint { get; set; }
}

[Data]
public sealed class Reals
{
    public float Single { get; set; }

    public double Double { get; set; }

    public decimal Price { get; set; }
}

[Data]
public sealed class Words
{
    public string Text { get; set; } = "none";

    public string? Maybe { get; set; }

    public byte[] Content { get; set; } = [];

    public char Letter { get; set; }
}

[Data]
public sealed class Times
{
    public DateTime When { get; set; }

    public DateTimeOffset There { get; set; }

    public TimeSpan Span { get; set; }

    public DateOnly Day { get; set; }

    public TimeOnly At { get; set; }
}

[Data]
public sealed class Tree
{
    public List<Tree> Children { get; set; } = [];

    public Dictionary<string, int> Tags { get; set; } = [];

    public (int, string?) Pair { get; set; }

    public Colour Colour { get; set; }
}

[Case(4, typeof(Cash))]
[Case(0, typeof(Card))]
public interface IPayment;

[Data]
public sealed record Card(string Number) : IPayment;

[Data]
public readonly record struct Cash([property: Field(1)] long Cents) : IPayment;

[Case(1, typeof(Leaf))]
[Case(2, typeof(Sum))]
public abstract record Formula;

[Data]
public sealed record Leaf(int Value) : Formula;

[Data]
public sealed record Sum(Formula Left, Formula? Right) : Formula;

[Data]
public sealed class Order
{
    public IPayment Paid { get; set; } = new Cash(7);

    public IPayment? Tip { get; set; }

    public Dictionary<string, Formula?> Formulas { get; set; } = [];
}

[Contract]
public interface IVectors
{
    [MethodId(1)]
    void Numbers(
        bool a = true, sbyte b = sbyte.MinValue, ushort c = ushort.MaxValue, long d = long.MinValue, ulong e = ulong.MaxValue, char f = 'é',
        int? g = 24, uint h = 65536);

    [MethodId(2)]
    void Reals(
        double a = 1.5, double b = double.NaN, double c = 1e300, float d = float.NegativeInfinity, double e = -0.0,
        double f = 5.960464477539063e-8, float g = float.MaxValue, double h = 1.1, float i = float.Epsilon, double j = double.Epsilon,
        decimal k = -1.50m, decimal? l = null);

    [MethodId(3)]
    void Texts(
        string a = "h\u00e9\n", string? b = null, byte[]? c = null, int d = 0, ReadOnlyMemory<byte> e = default, string f = null!);

    [MethodId(4)]
    void Times(
        DateTime a = default, DateTimeOffset b = default, TimeSpan c = default, DateOnly d = default, TimeOnly e = default,
        Guid f = default);

    [MethodId(5)]
    void Others(
        Colour a = Colour.Green, Depth? b = Depth.Least, Place c = default, (int, Guid?) d = default, (int, string) e = default,
        DayOfWeek f = DayOfWeek.Friday);

    [ImpulseHandler]
    void Input(ReadOnlyMemory<byte> content);

    [Query]
    Point Where(Tree tree, List<Colour> colours, int times);

    [MethodId(6)]
    Formula? Pay(IPayment with, List<Order?> orders, IPayment? tip = null);

    Call<ReadOnlyMemory<byte>> Read(Words words, Reals? reals, Times times, Dictionary<Depth, Place>? places);
}
