using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests;

/// <summary>Values of every type that a contract may name, through their generated codecs and back.</summary>
public sealed class DataCodecTests
{
    [Fact]
    public void Values_OfEveryForm_ArriveAsTheyWere()
    {
        var was = new Forms
        {
            Day = DateOnly.MaxValue, At = TimeOnly.MaxValue,
            Plan = { [new DateOnly(2026, 11, 21)] = [new TimeOnly(19, 25), TimeOnly.MinValue], [default] = [] },
            Pair = (new DateOnly(1, 1, 2), (null, "x")), Long = (1, 2, 3, 4, 5, 6, 7, 8, "nine"), Ragged = [[1, 2], null, []],
            Blobs = [[1], null], Nested = [[[[1]], []], []],
            Tuples = [[([1], null), ([], "b")], []], Tiny = Tiny.Least, Stepped = Stepped.Least, Topmost = Topmost.Top,
            Steps = [Stepped.Least, null, (Stepped)3], NoStep = null,
        };
        byte[] bytes = Written(was);
        Forms now = FormsOf(bytes);

        Assert.Equal(bytes, Written(now));
        Assert.Equal((was.Day, was.At, was.NoDay, was.Pair, was.Long), (now.Day, now.At, now.NoDay, now.Pair, now.Long));
        Assert.Equal(was.Plan, now.Plan);
        Assert.Equal(was.Ragged, now.Ragged);
        Assert.Equal(was.Blobs, now.Blobs);
        Assert.Equal(was.Nested, now.Nested);
        Assert.Equal(was.Tuples[0][1].Name, now.Tuples[0][1].Name);
        Assert.Equal((was.Tiny, was.Stepped, was.Topmost, was.NoStep), (now.Tiny, now.Stepped, now.Topmost, now.NoStep));
        Assert.Equal(was.Steps, now.Steps);
    }

    [Fact]
    public void Members_OfABaseClass_TravelWithThoseOfItsHeir()
    {
        var was = new Heir("ann", new DateOnly(1999, 1, 2)) { Rank = 3, Kept = "k", Hidden = "own" };
        ((Ancestor)was).Hidden = 5;
        Heir now = HeirOf(Written(was));

        Assert.Equal(("ann", new DateOnly(1999, 1, 2)), (now.Name, now.Born));
        // what is hidden is no part of the value
        Assert.Equal((3, "k", "own", 0), (now.Rank, now.Kept, now.Hidden, ((Ancestor)now).Hidden));
    }

    /// <summary>What the derived class adds would be lost: it is refused where it is sent.</summary>
    [Fact]
    public void Value_OfADerivedClass_IsRefusedByName()
    {
        ArgumentException refused = Assert.Throws<UnencodableException>(static () => Written((Ancestor)new Heir("ann", default)));
        Assert.StartsWith($"A {typeof(Heir)} cannot travel as {typeof(Ancestor)}, from which it derives", refused.Message,
            StringComparison.Ordinal);
    }

    /// <summary>
    /// A sender that does not know of a member leaves its default alone, also where it can be set by an initializer only.
    /// </summary>
    [Fact]
    public void Member_ThatDidNotCome_KeepsItsDefault()
    {
        Ancestor now = AncestorOf([0xA1, 0x64, .. "Name"u8, 0x63, .. "ann"u8]);

        Assert.Equal(("ann", 7, "kept"), (now.Name, now.Rank, now.Kept));
    }

    [Fact]
    public void Day_OutsideTheCalendar_IsRefused() => Assert.Throws<CborException>(static () => FormsOf([0xA1, 0x63, .. "Day"u8, 0x20]));

    private delegate void Writing(ref CborWriter to);

    private static byte[] Written(Writing write)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        write(ref to);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    private static byte[] Written(Forms value) => Written((ref to) => FormsDataCodec.Write(ref to, value));

    private static byte[] Written(Ancestor value) => Written((ref to) => AncestorDataCodec.Write(ref to, value));

    private static byte[] Written(Heir value) => Written((ref to) => HeirDataCodec.Write(ref to, value));

    private static Forms FormsOf(byte[] bytes)
    {
        var from = new CborReader(bytes);
        return FormsDataCodec.Read(ref from);
    }

    private static Ancestor AncestorOf(byte[] bytes)
    {
        var from = new CborReader(bytes);
        return AncestorDataCodec.Read(ref from);
    }

    private static Heir HeirOf(byte[] bytes)
    {
        var from = new CborReader(bytes);
        return HeirDataCodec.Read(ref from);
    }
}

public enum Tiny : sbyte
{
    Least = sbyte.MinValue,
}

public enum Stepped : short
{
    Least = short.MinValue,
}

public enum Topmost : ulong
{
    Top = ulong.MaxValue,
}

[Data]
public sealed class Forms
{
    public DateOnly Day { get; set; }

    public TimeOnly? At { get; set; }

    public DateOnly? NoDay { get; set; }

    public SortedDictionary<DateOnly, TimeOnly[]> Plan { get; init; } = [];

    public (DateOnly, (TimeOnly?, string?)) Pair { get; set; }

    public (int, int, int, int, int, int, int, int, string) Long { get; set; }

    public int[]?[] Ragged { get; set; } = [];

    public byte[]?[] Blobs { get; set; } = [];

    public List<int[]>[][] Nested { get; set; } = [];

    public (int[] Numbers, string? Name)[][] Tuples { get; set; } = [];

    public Tiny Tiny { get; set; }

    public Stepped Stepped { get; set; }

    public Topmost Topmost { get; set; }

    public Stepped?[] Steps { get; set; } = [];

    public Stepped? NoStep { get; set; }
}

[Data]
public record Ancestor(string Name)
{
    public int Rank { get; init; } = 7;

    public virtual string Kept { get; init; } = "kept";

    public int Hidden { get; set; }
}

[Data]
public sealed record Heir(string Name, DateOnly Born) : Ancestor(Name)
{
    public override string Kept { get; init; } = "heir's";

    public new string Hidden { get; set; } = "";
}
