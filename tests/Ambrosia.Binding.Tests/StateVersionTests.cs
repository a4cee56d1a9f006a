using System.Buffers;
using System.Text;
using Ambrosia.Protocol;
using static Ambrosia.Binding.Tests.Images.GraphBytes;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// Images of one build read by another. The older build's class has a name of the same length, which the image's bytes are given;
/// so one process holds both.
/// </summary>
public sealed class StateVersionTests
{
    private const int CborHeadBytesMax = 9;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Fields_AddedRemovedReorderedRenamed_AreReadByName(bool isReflective)
    {
        var was = new ItemV1 { Kept = 5, Dropped = "gone", Later = 7, OldName = "named" };
        was.Self = was;
        was.DroppedObject = new Retired { Number = 3 };
        byte[] image = Patched(Written(was, isReflective));

        var now = (ItemV2)Read(image, isReflective);
        Assert.Equal((5L, 7, "named", 0, null), (now.Kept, now.Later, now.NewName, now.Added, now.AddedText));
        Assert.Same(now, now.Self);
    }

    [Fact]
    public void Class_ThatIsGone_IsNamedWhereSomethingRefersToIt()
    {
        byte[] image = Replaced(Written(new object[] { new Retired { Number = 3 } }), nameof(Retired), "Unknown");

        InvalidDataException refused = Assert.Throws<InvalidDataException>(() => Read(image));
        Assert.Equal("System.Object[] cannot be restored: The image holds a Ambrosia.Binding.Tests.Unknown, Ambrosia.Binding.Tests, which this app does not have.",
            refused.Message);
    }

    [Fact]
    public void Case_IsKnownByItsNumber()
    {
        byte[] image = Written(new object[] { new Circle(2), new Square(3) });
        Assert.DoesNotContain("Circle", Encoding.UTF8.GetString(image), StringComparison.Ordinal);
        Assert.Equal([new Circle(2), new Square(3)], (object[])Read(image));

        InvalidDataException refused = Assert.Throws<InvalidDataException>(() => Read(Replaced(image, "#1 ", "#9 ")));
        Assert.Equal("System.Object[] cannot be restored: The image holds a #9 Ambrosia.Binding.Tests.IForm, Ambrosia.Binding.Tests, which this app does not have.",
            refused.Message);
    }

    [Fact]
    public void Case_WithoutANumber_IsRefusedWhenItIsWritten()
    {
        NotWritableException refused = Assert.Throws<NotWritableException>(() => Written(new object[] { new Blob(1) }));
        Assert.Contains("Blob has no number among the cases of IForm (add [Case(n, typeof(Blob))] there)", refused.Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false, "wrote something else than one CBOR item")]
    [InlineData(true, "threw System.FormatException: no")]
    public void Serializer_ThatBreaksItsPromise_IsNamed(bool throws, string expected)
    {
        NotWritableException refused = Assert.Throws<NotWritableException>(() => Written(new object[] { new Odd { Throws = throws } }));
        Assert.Contains(expected, refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Serializer_OfAStruct_WritesItInPlace()
    {
        object[] read = (object[])Read(Written(new object[] { new Temperature(21), new List<Temperature> { new(-3), new(4) } }));
        Assert.Equal(new Temperature(21), read[0]);
        Assert.Equal([new(-3), new(4)], (List<Temperature>)read[1]);
    }

    /// <summary>A local time is its ticks wherever it is written and read: replicas in other time zones have the same state.</summary>
    [Fact]
    public void LocalTime_DoesNotDependOnTheMachinesZone()
    {
        var time = new DateTime(2026, 7, 1, 12, 0, 0, DateTimeKind.Local);
        byte[] image = Written(new object[] { time });
        byte[] expected = new byte[CborHeadBytesMax];
        var to = new CborWriter(expected);
        to.WriteInt64(time.Ticks);

        Assert.True(image.AsSpan().IndexOf(expected) > 0);
        var read = (DateTime)((object[])Read(image))[0];
        Assert.Equal((time.Ticks, DateTimeKind.Local), (read.Ticks, read.Kind));
    }

    private static byte[] Patched(byte[] image) => Replaced(Replaced(image, nameof(ItemV1), "ItemX1"), nameof(Retired), "Unknown");

    private static byte[] Replaced(byte[] image, string from, string to)
    {
        Assert.Equal(from.Length, to.Length);
        string text = Encoding.Latin1.GetString(image);
        Assert.Contains(from, text, StringComparison.Ordinal);
        return Encoding.Latin1.GetBytes(text.Replace(from, to, StringComparison.Ordinal));
    }
}

public sealed class ItemV1
{
    public int Kept;
    internal string? Dropped;
    public int Later;
    public ItemV1? Self;
    internal Retired? DroppedObject;

    internal string? OldName { get; set; }
}

[Data]
[FormerlyNamed("Ambrosia.Binding.Tests.ItemX1")]
public sealed class ItemV2
{
    public ItemV2? Self;
    public string? AddedText;
    public int Later, Added;
    public long Kept;

    [FormerlyNamed("OldName")]
    internal string? NewName { get; set; }
}

[Data]
public sealed class Retired
{
    public int Number;
}

[StateSerializer(typeof(OddSerializer))]
public sealed class Odd
{
    internal bool Throws { get; init; }
}

public sealed class OddSerializer : IStateSerializer<Odd>
{
    public void Write(ref CborWriter to, Odd value)
    {
        if (value.Throws) throw new FormatException("no");
        to.WriteInt64(1);
        to.WriteInt64(2);
    }

    public Odd Read(ref CborReader from) => new();
}

[StateSerializer(typeof(TemperatureSerializer))]
public readonly record struct Temperature(int Celsius);

public sealed class TemperatureSerializer : IStateSerializer<Temperature>
{
    public void Write(ref CborWriter to, Temperature value) => to.WriteInt64(value.Celsius);

    public Temperature Read(ref CborReader from) => new(from.ReadInt32());
}
