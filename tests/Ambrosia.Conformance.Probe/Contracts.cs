using Ambrosia;

namespace Conformance;

/// <summary>What a step of <see cref="IProbe.Do"/> does. The numbers are those of the kit's contract.</summary>
public enum Operation : byte
{
    Say, Add, Read, Fork, ForkDo, Call, Ask, Through, Throw, Delay, All, Any, Within, Task, Guid, Random, Now, Checkpoint,
    Pulse, Again, Pass, Every, Stop,
}

/// <summary>A colour.</summary>
public enum Colour : byte { Red = 0, Green = 5, Blue = 6 }

/// <summary>A step of <see cref="IProbe.Do"/>.</summary>
[Data]
public sealed record Step(
    [property: Field(1)] Operation Op, [property: Field(2)] string To, [property: Field(3)] long Number, [property: Field(4)] string Text,
    [property: Field(5)] List<Step> Steps);

/// <summary>A point.</summary>
[Data]
public sealed record Point([property: Field(1)] int X, [property: Field(2)] int Y);

/// <summary>A shape.</summary>
[Case(1, typeof(Circle))]
[Case(2, typeof(Square))]
public interface IShape;

/// <summary>A circle.</summary>
[Data]
public sealed record Circle([property: Field(1)] long Radius) : IShape;

/// <summary>A square.</summary>
[Data]
public sealed record Square([property: Field(1)] long Side) : IShape;

/// <summary>A member of every type that a contract may name.</summary>
[Data]
public sealed class Everything
{
    public bool Flag { get; set; }
    public sbyte Small { get; set; }
    public short Short { get; set; }
    public int Int { get; set; }
    public long Long { get; set; }
    public byte Byte { get; set; }
    public ushort Word { get; set; }
    public uint Unsigned { get; set; }
    public ulong Huge { get; set; }
    public float Single { get; set; }
    public double Double { get; set; }
    public decimal Money { get; set; }
    public char Letter { get; set; }
    public string Words { get; set; } = "";
    public byte[] Blob { get; set; } = [];
    public Guid Id { get; set; }
    public DateTime At { get; set; }
    public DateTimeOffset There { get; set; }
    public TimeSpan Span { get; set; }
    public DateOnly Day { get; set; }
    public TimeOnly Clock { get; set; }
    public Colour Colour { get; set; }
    public List<Point> Points { get; set; } = [];
    public Dictionary<string, int> Names { get; set; } = [];
    public (int Number, string Word) Pair { get; set; } = (0, "");
    public IShape Shape { get; set; } = new Circle(0);
    public int? Maybe { get; set; }
    public string? Nothing { get; set; }
}

/// <summary>The contract of the conformance kit's probe (protocol/conformance/Probe.contract.json).</summary>
public interface IProbe
{
    [MethodId(1)]
    Call<long> Add(long amount);

    [MethodId(2)]
    void Take(ReadOnlySpan<byte> content);

    [MethodId(3)]
    Call<List<string>> Do(List<Step> steps);

    [MethodId(7)]
    [ImpulseHandler]
    void Tick(long amount);

    void Send(string to, long amount);

    void SendMany(string to, long first, int count);

    void Ship(string to, int size);

    Call<ReadOnlyMemory<byte>> Echo(ReadOnlySpan<byte> content);

    Call<long> Total();

    Call<long> Trail();

    void Refuse(string why);

    Call<string> Defaults(int number = 7, string word = "seven", long? more = null);

    Call<Everything> Mirror(Everything value);

    Call<long> Measure(IShape shape);

    Call<int> Remember(string key);

    Call<List<string>> Recall();

    void Grow(int size);

    [Query]
    long Peek();
}
