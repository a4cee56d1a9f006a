using System.Collections.Immutable;
using System.Net;
using System.Runtime.InteropServices;
using Ambrosia.Binding.Tests.Examples.State;
using Ambrosia.Protocol;
using Ambrosia.State;

[assembly: Ambrosia.StateSerializer(typeof(Ambrosia.Binding.Tests.AddressSerializer))]

namespace Ambrosia.Binding.Tests;

/// <summary>State of every form that a declaration can have: what generated code must reach by itself.</summary>
public interface IVault
{
    [MethodId(1)]
    void Fill(int seed);
}

public class Base(int hidden)
{
    private readonly int _same = hidden;
    protected string? Text;

    internal int Same => _same;
}

/// <summary>
/// A field of the same name as its base class's, a parameter that a method keeps, a record struct, an init-only property.
/// </summary>
public sealed class Derived(int seed, string captured) : Base(seed)
{
    private readonly long _same = seed;

    internal Point At { get; init; } = new(seed, -seed);

    internal Color Color = (Color)(seed % 3);

    internal string Captured() => captured;

    internal long Sum() => _same + Same + (Text ??= captured).Length;
}

public readonly record struct Point(int X, int Y);

public enum Color : byte
{
    Red,
    Green = 200,
}

public enum Deep : long
{
    Least = long.MinValue,
}

public enum Wide : ulong
{
    Most = ulong.MaxValue,
}

public struct Empty;

public sealed class Pot<T>
    where T : notnull
{
    private T _content;
    private Pot<T>? _next;

    internal Pot(T content, Pot<T>? next) => (_content, _next) = (content, next);

    internal T Content => _content;

    internal Pot<T>? Next
    {
        get => _next;
        set => _next = value;
    }
}

[Case(1, typeof(Circle))]
[Case(2, typeof(Square))]
public interface IForm;

public sealed record Circle(double Radius) : IForm;

public readonly record struct Square(float Side) : IForm;

/// <summary>Of no number: it must be refused.</summary>
public sealed record Blob(int Size) : IForm;

public sealed class AddressSerializer : IStateSerializer<IPAddress>
{
    public void Write(ref CborWriter to, IPAddress value) => to.WriteBytes(value.GetAddressBytes());

    public IPAddress Read(ref CborReader from) => new(from.ReadBytes());
}

public partial class Vault : Immortal<IVaultProxy>, IVault
{
    private readonly List<Secret> _secrets = [];
    private Secret? _favourite;
    internal Derived? Derived;
    internal Base? AsBase;
    internal Pot<string>? Texts;
    internal Pot<Point>? Points;
    internal Dictionary<(int, string), KeyValuePair<Point, Point?>>? Pairs;
    internal (int, int, int, int, int, int, int, int, string)? Long;
    internal Wide Wide;
    internal Empty Empty = new();
    internal Color? NoColor;
    internal IForm?[]? Forms;
    internal IPAddress? Address, SameAddress;
    internal float Float;
    internal double Double;
    internal TimeSpan Span;
    internal DateTime Time;
    internal Guid Id;
    internal decimal Money;
    internal char Letter;
    internal sbyte Small;
    internal Half Half;
    internal Int128 Least;
    internal UInt128? Most;
    internal (DateOnly?, TimeOnly) Day;
    internal int[]?[]? Ragged;
    internal Deep Deep;
    internal ImmutableArray<Point> Fixed, SameFixed, NoneFixed = [];
    internal IVaultProxy? Other;
    internal object? Anything;

    internal int SecretCount => _secrets.Count;

    internal bool IsFavouriteShared => _secrets.Count > 0 && ReferenceEquals(_favourite, _secrets[^1]);

    internal bool IsFixedShared =>
        ReferenceEquals(ImmutableCollectionsMarshal.AsArray(Fixed), ImmutableCollectionsMarshal.AsArray(SameFixed)) && NoneFixed.IsDefault;

    public void Fill(int seed)
    {
        var random = new Random(seed);
        for (int i = random.Next(1, 9); i > 0; i--)
            _secrets.Add(new Secret { Word = i.ToString(), Depth = random.Next(), Inner = _favourite = new Secret() });
        _favourite = _secrets[^1];
        Derived = new Derived(random.Next(), $"captured {seed}");
        AsBase = random.Next(2) == 0 ? Derived : new Base(seed);
        Texts = new Pot<string>("a", new Pot<string>("b", null));
        Texts.Next!.Next = Texts;
        Points = new Pot<Point>(new Point(seed, 2), null);
        Pairs = new() { [(seed, "x")] = new(new Point(1, 2), null), [(-seed, "y")] = new(default, new Point(3, 4)) };
        Long = random.Next(2) == 0 ? null : (1, 2, 3, 4, 5, 6, 7, seed, "nine");
        Wide = random.Next(2) == 0 ? Wide.Most : (Wide)seed;
        NoColor = random.Next(2) == 0 ? null : Color.Green;
        Forms = [new Circle(random.NextDouble()), new Square(1.5f), null];
        SameAddress = Address = IPAddress.Parse("192.0.2.1");
        (Float, Double, Span, Time, Id, Money, Letter,
            Small) = (-0f, double.NaN, TimeSpan.MinValue, new DateTime(seed, DateTimeKind.Utc),
                new Guid(seed, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 1.10m, '\uD800', -7);
        (Half, Least, Most, Day,
            Deep) = (Half.NegativeInfinity, Int128.MinValue, UInt128.MaxValue - (uint)seed, (null, TimeOnly.MaxValue), (Deep)seed);
        Ragged = [[1], null, [seed, seed]];
        NoneFixed = default;
        Fixed = SameFixed = [new(seed, 1), new(2, seed)];
        Other = GetProxy<IVault>("other");
        Anything = random.Next(4) switch { 0 => Derived, 1 => new Point(1, seed), 2 => Color.Green, _ => Texts };
    }

    /// <summary>Nobody else can name it.</summary>
    private sealed class Secret
    {
        internal string? Word { get; init; }

        internal int Depth { get; init; }

        internal Secret? Inner;
    }
}
