namespace Ambrosia.Perf.Tests;

public sealed class SizesTests
{
    [Fact]
    public void List_Range_IsInQuarters() => Assert.Equal([65536, 16384, 4096, 1024, 256, 64, 16], Sizes.TryParseList("65536..16"));

    [Fact]
    public void List_Single_IsItself() => Assert.Equal([1024, 16], Sizes.TryParseList("1K,16"));

    [Theory]
    [InlineData("")]
    [InlineData("16..65536")]
    [InlineData("4")]
    [InlineData("32M")]
    [InlineData("1,,2")]
    [InlineData("a..b")]
    public void List_Wrong_IsNone(string text) => Assert.Null(Sizes.TryParseList(text));

    [Theory]
    [InlineData("256M", 256L << 20)]
    [InlineData("1g", 1L << 30)]
    [InlineData("17", 17)]
    public void Size_WithUnit_IsBytes(string text, long bytes)
    {
        Assert.True(Sizes.TryParse(text, out long parsed));
        Assert.Equal(bytes, parsed);
    }

    [Theory]
    [InlineData("0")]
    [InlineData("-1")]
    [InlineData("M")]
    [InlineData("99999999999999999999")]
    [InlineData("4096G")]
    public void Size_Wrong_IsNone(string text) => Assert.False(Sizes.TryParse(text, out _));

    [Fact]
    public void Median_OddAndEven_IsTheMiddle()
    {
        Assert.Equal(2, Median.Of([3.0, 1, 2], static v => v));
        Assert.Equal(2.5, Median.Of([4.0, 1, 2, 3], static v => v));
        Assert.Throws<ArgumentException>(() => Median.Of(Array.Empty<double>(), static v => v));
    }
}
