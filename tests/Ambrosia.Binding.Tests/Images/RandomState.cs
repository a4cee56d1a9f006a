using System.Collections.Immutable;
using System.Net;
using System.Runtime.CompilerServices;
using Ambrosia.State;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>Makes random graphs of every type that can be state, with sharing and cycles, from a seed.</summary>
internal sealed class RandomState(int seed)
{
    /// <summary>An app's definition does this; here there need not be one before.</summary>
    static RandomState() => StateSerializers.Read(typeof(RandomState).Assembly);

    private readonly Random _random = new(seed);
    private readonly List<object?> _pool = [null, "a text", "", 5, 2.5, true, 'x', new byte[] { 1, 2 }, Array.Empty<int>(), new object()];

    internal object Make()
    {
        for (int i = _random.Next(5, 60); i > 0; i--) _pool.Add(MakeOne());
        foreach (Everything each in _pool.OfType<Everything>()) each.Next = _random.Next(2) == 0 ? Pick() : each;
        return _pool;
    }

    private object? Pick() => _pool[_random.Next(_pool.Count)];

    private T? Pick<T>() where T : class => _pool.OfType<T>().ElementAtOrDefault(_random.Next(4));

    private object MakeOne() => _random.Next(4) switch
    {
        0 => MakeEverything(),
        1 => MakeBox(),
        2 => MakeCollection(),
        _ => MakeArray(),
    };

    private object MakeBox() => _random.Next(16) switch
    {
        0 => Int(), 1 => (long)Int() << 20, 2 => (byte)Int(), 3 => -(sbyte)5, 4 => ulong.MaxValue - (uint)Int(), 5 => Number(),
        6 => (float)Number(), 7 => (Half)Number(), 8 => Money(), 9 => Day(), 10 => Id(),
        11 => (Mood)_random.Next(4), 12 => MakePlace(), 13 => MakeMixed(), 14 => ImmutableArray.Create(Int(), 2),
        _ => new KeyValuePair<int, string?>(Int(), Text()),
    };

    private object MakeArray() => _random.Next(13) switch
    {
        0 => Some(Int), 1 => Some(Number), 2 => Some(Money), 3 => Some(Day), 4 => Some(() => (Mood)_random.Next(4)), 5 => Some(MakePlace),
        6 => Some(MakeMixed), 7 => Some(Text), 8 => Some(Pick), 9 => Some(() => _random.Next(2) == 0 ? (int?)null : Int()),
        10 => Some(() => (Char(), _random.Next(2) == 0, (Half)Number(), UInt128.MaxValue - (uint)Int())), 11 => MakeGrid(),
        _ => Some(() => (object?)Some(Id)),
    };

    private object MakeCollection()
    {
        switch (_random.Next(13))
        {
            case 0: return new List<object?>(Some(Pick));
            case 1: return new List<Place>(Some(MakePlace));
            case 2: return new Queue<string?>(Some(Text));
            case 3: return new Stack<int>(Some(Int));
            case 4: return new LinkedList<decimal>(Some(Money));
            case 5: return new HashSet<int>(Some(Int));
            case 6: return new SortedSet<string>(Some(() => $"k{Int()}"), StringComparer.Ordinal);
            case 7: return Filled(new Dictionary<string, object?>(StringComparer.OrdinalIgnoreCase), () => $"${Int()}", Pick);
            case 8: return Filled(new Dictionary<Place, Mixed>(), MakePlace, MakeMixed);
            case 9: return Filled(new SortedDictionary<long, string?>(), () => (long)Int(), Text);
            case 10: return Filled(new SortedList<Mood, int?>(), () => (Mood)_random.Next(4), () => _random.Next(2) == 0 ? (int?)null : Int());
            case 11: return Filled(new Dictionary<object, DateTime>(), () => (object)(Pick<Everything>() ?? new Everything()), Day);
            default: return Filled(new Dictionary<Guid, char>(), Id, Char);
        }
    }

    private int[,] MakeGrid()
    {
        int[,] grid = new int[_random.Next(3), _random.Next(4)];
        for (int i = 0; i < grid.GetLength(0); i++)
            for (int k = 0; k < grid.GetLength(1); k++) grid[i, k] = Int();
        return grid;
    }

    private Everything MakeEverything() => new()
    {
        Bool = _random.Next(2) == 0, I1 = (sbyte)Int(), U1 = (byte)Int(), I2 = (short)Int(), U2 = (ushort)Int(), I4 = Int(), U4 = (uint)Int(),
        I8 = (long)Int() * Int(), U8 = ulong.MaxValue - (uint)Int(), I16 = Int128.MinValue + Int(), U16 = UInt128.MaxValue - (uint)Int(),
        Native = Int(), UnsignedNative = (nuint)(uint)Int(), F2 = (Half)Number(), F4 = (float)Number(), F8 = Number(), Money = Money(),
        Char = Char(), Text = Text(), Id = Id(), Time = Day(), Span = new TimeSpan(Int()), Date = DateOnly.FromDateTime(Day()),
        Offset = new DateTimeOffset(Day().Ticks, TimeSpan.FromMinutes(Int() % 600)),
        TimeOfDay = TimeOnly.FromDateTime(Day()), Mood = (Mood)_random.Next(4), Maybe = _random.Next(2) == 0 ? null : Int(),
        MaybeMood = _random.Next(2) == 0 ? null : Mood.Sad, Place = MakePlace(), MaybePlace = _random.Next(2) == 0 ? null : MakePlace(),
        Tuple = (Int(), Text(), MakePlace()), Old = System.Tuple.Create(Int(), (object?)Pick()), Pair = new(Text(), Pick()),
        Fixed = _random.Next(2) == 0 ? default : ImmutableArray.Create(MakePlace(), MakePlace()), Letters = MakeFour(),
        Named = new Name(Text()), Address = _random.Next(2) == 0 ? null : IPAddress.Parse("192.0.2.1"),
        Failure = new InvalidOperationException(Text(), new Broken("inner", Int())),
        Shared = Pick<Everything>(), Any = Pick(),
    };

    private Four MakeFour()
    {
        var four = new Four();
        for (int i = 0; i < 4; i++) four[i] = Text();
        return four;
    }

    private T[] Some<T>(Func<T> make) => [.. Enumerable.Range(0, _random.Next(6)).Select(_ => make())];

    private IDictionary<TKey, TValue> Filled<TKey, TValue>(IDictionary<TKey, TValue> map, Func<TKey> key, Func<TValue> value)
        where TKey : notnull
    {
        for (int i = _random.Next(5); i > 0; i--) map[key()] = value();
        if (map.Count > 1 && _random.Next(2) == 0) map.Remove(map.Keys.First());
        return map;
    }

    private Guid Id() => new(Int(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);

    private Place MakePlace() => new((byte)Int(), Int(), (Mood)_random.Next(4), Number());

    private Mixed MakeMixed() => new() { Text = Text(), Place = MakePlace(), Object = Pick() };

    private int Int() => _random.Next(3) == 0 ? _random.Next(-3, 300) : _random.Next(int.MinValue, int.MaxValue);

    private double Number() => _random.Next(9) switch
    {
        0 => double.NaN, 1 => -0.0, 2 => double.PositiveInfinity, 3 => double.NegativeInfinity, 4 => 1.5,
        _ => _random.NextDouble() * 1e4 - 5e3,
    };

    private decimal Money() => new(_random.Next(), _random.Next(2), 0, _random.Next(2) == 0, (byte)_random.Next(20));

    private DateTime Day() => new(_random.NextInt64(DateTime.MaxValue.Ticks / 2) + (1L << 40), (DateTimeKind)_random.Next(3));

    private char Char() => _random.Next(3) switch { 0 => 'a', 1 => '\uD800', _ => (char)_random.Next(0x20, 0x2000) };

    private string? Text() => _random.Next(6) switch
    {
        0 => null, 1 => "", 2 => "grüße \"quoted\" \\ \n\0", 3 => "😀 whole", 4 => "\uDC00 half", _ => $"text {_random.Next(5)}",
    };
}

public enum Mood : short
{
    Sad = -1,
    Calm = 0,
    Glad = 7,
}

/// <summary>Plain numbers with memory between them that belongs to none.</summary>
public record struct Place(byte Floor, long Room, Mood Mood, double Height);

public struct Mixed
{
    public string? Text;
    public Place Place;
    public object? Object;
}

[InlineArray(4)]
public struct Four
{
    private string? _first;
}

public sealed record Name(string? Given);

/// <summary>An exception with a field of its own.</summary>
public sealed class Broken(string message, int code) : Exception(message)
{
    public int Code { get; } = code;
}

public class Ground
{
    private readonly int _same = 1;
    public object? Any;

    public int Same => _same;
}

public sealed class Everything : Ground
{
    private readonly string _same = "derived";
    public object? Next;
    public bool Bool;
    public sbyte I1;
    public byte U1;
    public short I2;
    public ushort U2;
    public int I4;
    public uint U4;
    public long I8;
    public ulong U8;
    public Int128 I16;
    public UInt128 U16;
    public nint Native;
    public nuint UnsignedNative;
    public Half F2;
    public float F4;
    public double F8;
    public decimal Money;
    public char Char;
    public string? Text;
    public Guid Id;
    public DateTime Time;
    public DateTimeOffset Offset;
    public TimeSpan Span;
    public DateOnly Date;
    public TimeOnly TimeOfDay;
    public Mood Mood;
    public int? Maybe;
    public Mood? MaybeMood;
    public Place Place;
    public Place? MaybePlace;
    public (int, string?, Place) Tuple;
    public Tuple<int, object?>? Old;
    public KeyValuePair<string?, object?> Pair;
    public ImmutableArray<Place> Fixed;
    public Four Letters;
    public Name? Named;
    public IPAddress? Address;
    public Exception? Failure;
    public Everything? Shared;

    public string SameText => _same;
}
