using System.Buffers;
using System.Collections;
using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using Ambrosia.Protocol;
using static Ambrosia.Binding.Tests.Images.GraphBytes;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>Arrays and collections of plain numbers, and of structs of such, stand in an image as one byte string.</summary>
public sealed class PackedItemsTests
{
    [Fact]
    public void Array_OfNumbers_IsTheirBytes()
    {
        string name = "8200" + Hex(static (ref CborWriter to) => to.WriteString("System.Int32, System.Private.CoreLib"));
        string row = $"83{name}0281{Hex(static (ref CborWriter to) => to.WriteString("=i4"))}";

        Assert.Equal($"81{row}820048" + "01000000FEFFFFFF", Convert.ToHexString(Written(new[] { 1, -2 })));
    }

    /// <summary>Memory between the fields is nobody's: it is not in the image, whatever it holds.</summary>
    [Fact]
    public void Array_OfStructsWithGaps_HasOnlyTheirFields()
    {
        var clean = new Place[] { new(1, 2, Mood.Glad, 3), new(4, 5, Mood.Sad, 6) };
        var dirty = new Place[2];
        MemoryMarshal.AsBytes(dirty.AsSpan()).Fill(0xEE);
        for (int i = 0; i < clean.Length; i++)
            (dirty[i].Floor, dirty[i].Room, dirty[i].Mood, dirty[i].Height) = (clean[i].Floor, clean[i].Room, clean[i].Mood, clean[i].Height);
        Assert.Contains((byte)0xEE, MemoryMarshal.AsBytes(dirty.AsSpan()).ToArray());

        Assert.Equal(Written(clean), Written(dirty));
        Assert.Equal(clean, Read(Written(dirty)));
    }

    [Fact]
    public void Array_Long_ComesBack()
    {
        Place[] places = [.. Enumerable.Range(0, 200_000).Select(static i => new Place((byte)i, i, Mood.Glad, i))];

        Assert.Equal(places, Read(Written(places)));
    }

    /// <summary>Another build may have other fields, other widths, and fields that are no numbers: they are read by their names.</summary>
    [Fact]
    public void Array_OfAStructThatChanged_IsReadByTheNamesOfItsFields()
    {
        byte[] image = Replaced(Written(new SpotV1[] { new(1, 2, 3, Mood.Glad), new(-4, 5, 6, Mood.Sad) }), "SpotV1", "SpotV2");

        Assert.Equal([new SpotV2(null, 3, 1, Mood.Glad), new SpotV2(null, 6, -4, Mood.Sad)], (SpotV2[])Read(image));
    }

    [Fact]
    public void List_OfNumbers_IsItsOrderAndTheirBytes() =>
        Assert.EndsWith("8200" + "8200" + "48" + "01000000FEFFFFFF", Convert.ToHexString(Written(new List<int> { 1, -2 })),
            StringComparison.Ordinal);

    [Fact]
    public void Dictionary_OfNumbers_IsItsOrderAndItsPairs()
    {
        var map = new Dictionary<short, byte> { [1] = 7, [-2] = 8 };

        Assert.EndsWith("8200" + "82" + "8200" + $"{map.Capacity:X2}" + "46" + "010007" + "FEFF08", Convert.ToHexString(Written(map)),
            StringComparison.Ordinal);
    }

    public static TheoryData<object> Collections()
    {
        Place[] places = [.. Enumerable.Range(0, 50_000).Select(static i => new Place((byte)i, i, Mood.Glad, i))];
        int[] numbers = [.. Enumerable.Range(-100, 100_000)];
        var withGaps = places.Take(100).ToDictionary(static place => place, static place => new DateTime(place.Room));
        foreach (Place place in places.Take(40).Where(static place => place.Room % 3 == 0)) withGaps.Remove(place);
        var setWithGaps = new HashSet<int>(numbers);
        setWithGaps.RemoveWhere(static i => i % 5 == 0);
        return
        [
            new List<Place>(places), new List<byte>(), new Queue<int>(numbers), new Stack<Place>(places),
            new LinkedList<Mood>([Mood.Sad, Mood.Glad]), new SortedSet<int>(numbers),
            new HashSet<Guid>([new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)]), setWithGaps, withGaps,
            new Dictionary<Mood, Place> { [Mood.Sad] = places[7] }, new SortedDictionary<long, double> { [2] = 0.5, [1] = double.NaN },
            new SortedList<char, decimal> { ['a'] = 1.50m }, new Dictionary<int, int>(),
        ];
    }

    /// <summary>It enumerates as it did, and goes on doing so: the slots that the next elements take are the same, too.</summary>
    [Theory]
    [MemberData(nameof(Collections))]
    public void Collection_OfNumbersOrStructs_ComesBackPacked(object collection)
    {
        byte[] image = Written(collection);
        object read = Read(image);

        Assert.Equal(((IEnumerable)collection).Cast<object>(), ((IEnumerable)read).Cast<object>());
        Assert.Contains("=", Encoding.Latin1.GetString(image), StringComparison.Ordinal);
        Assert.Equal(image, Written(read));
    }

    /// <summary>While free slots are filled, items may have the hashes that stand in them, in front and behind.</summary>
    [Fact]
    public void Dictionary_WithItemsThatHashAsItsGaps_ComesBack()
    {
        var map = new Dictionary<int, int>();
        foreach (int key in new[] { int.MinValue + 2, 1, 2, int.MinValue + 1, int.MinValue + 7, 5, 6, 7, int.MinValue + 5 }) map.Add(key, 0);
        foreach (int key in new[] { 1, 2, 5, 7 }) map.Remove(key);
        byte[] image = Written(map);
        var read = (Dictionary<int, int>)Read(image);

        Assert.Equal(map.Keys, read.Keys);
        Assert.Equal(image, Written(read));
        Assert.All(map.Keys, key => Assert.True(read.ContainsKey(key)));
    }

    [Fact]
    public void Collections_OfAStructThatChanged_AreReadByTheNamesOfItsFields()
    {
        var first = new SpotV1(1, 2, 3, Mood.Glad);
        object[] state = [new List<SpotV1> { first }, new Dictionary<SpotV1, SpotV1> { [first] = first }, new Queue<SpotV1>([first])];
        object[] read = (object[])Read(Replaced(Written(state), "SpotV1", "SpotV2"));
        var now = new SpotV2(null, 3, 1, Mood.Glad);

        Assert.Equal([now], (List<SpotV2>)read[0]);
        Assert.Equal([KeyValuePair.Create(now, now)], (Dictionary<SpotV2, SpotV2>)read[1]);
        Assert.Equal([now], (Queue<SpotV2>)read[2]);
    }

    /// <summary>Enumerators of a restored list are as good as those of one that nobody has changed.</summary>
    [Fact]
    public void List_ThatWasRestored_HasNotChanged()
    {
        var read = (object[])Read(Written(new object[] { new List<int> { 1, 2 } }));

        Assert.Equal(0, ListVersionOf((List<int>)read[0]));
    }

    [Fact]
    public void List_WithAPartOfAnElement_IsRefused()
    {
        byte[] image = Written(new List<int> { 1, 2 });
        Assert.Equal([0x82, 0x00, 0x48], image[^11..^8]);

        Assert.Throws<InvalidDataException>(() => Read([.. image.AsSpan(0, image.Length - 9), 0x47, .. image.AsSpan(image.Length - 8, 7)]));
    }

    [Fact]
    public void List_WithAnItemBehindItsBytes_IsRefused()
    {
        byte[] image = Written(new List<int> { 1, 2 });
        Assert.Equal([0x82, 0x00, 0x48], image[^11..^8]);
        image[^11] = 0x83;

        Assert.Throws<InvalidDataException>(() => Read([.. image, 0x00]));
    }

    [Fact]
    public void Array_WithAPartOfAnElement_IsRefused()
    {
        byte[] image = Written(new[] { 1, 2 });
        Assert.Equal(0x48, image[^9]);
        byte[] cut = [.. image.AsSpan(0, image.Length - 9), 0x47, .. image.AsSpan(image.Length - 8, 7)];

        Assert.Throws<InvalidDataException>(() => Read(cut));
    }

    /// <summary>A boxed struct that is not an array of its fields is an object like any other.</summary>
    [Fact]
    public void Box_OfAnImmutableArray_ComesBack()
    {
        object[] read = (object[])Read(Written(new object[] { ImmutableArray.Create(1, 2), ImmutableArray<string>.Empty }));

        Assert.Equal([1, 2], ((ImmutableArray<int>)read[0]).ToArray());
        Assert.Empty((ImmutableArray<string>)read[1]);
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_version")]
    private static extern ref int ListVersionOf(List<int> list);

    private delegate void WriteItems(ref CborWriter to);

    private static byte[] Replaced(byte[] image, string from, string to)
    {
        string text = Encoding.Latin1.GetString(image);
        Assert.Contains(from, text, StringComparison.Ordinal);
        return Encoding.Latin1.GetBytes(text.Replace(from, to, StringComparison.Ordinal));
    }

    private static string Hex(WriteItems write)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        write(ref to);
        to.Flush();
        return Convert.ToHexString(bytes.WrittenSpan);
    }
}

public record struct SpotV1(int Kept, byte Dropped, short Widened, Mood Mood);

public record struct SpotV2(string? Added, long Widened, int Kept, Mood Mood);
