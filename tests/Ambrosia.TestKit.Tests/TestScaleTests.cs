namespace Ambrosia.TestKit.Tests;

public sealed class TestScaleTests
{
    [Theory]
    [InlineData(null, 0.1)]
    [InlineData("", 0.1)]
    [InlineData("2.5", 2.5)]
    public void Parse_Number_IsTaken(string? text, double value) => Assert.Equal(value, TestScale.Parse(text));

    [Theory]
    [InlineData("0")]
    [InlineData("-1")]
    [InlineData("many")]
    [InlineData("1,5")]
    [InlineData("NaN")]
    public void Parse_AnythingElse_StopsTheRun(string text) => Assert.Throws<FormatException>(() => TestScale.Parse(text));

    [Fact]
    public void Rounds_TinyShare_IsAtLeastOne() => Assert.Equal(1, TestScale.Rounds(1));
}
