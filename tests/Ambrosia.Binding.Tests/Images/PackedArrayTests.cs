using System.Buffers;
using System.Collections.Immutable;
using System.Runtime.InteropServices;
using System.Text;
using Ambrosia.Protocol;
using static Ambrosia.Binding.Tests.Images.GraphBytes;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>Arrays of plain numbers, and of structs of such, stand in an image as one byte string.</summary>
public sealed class PackedArrayTests
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
