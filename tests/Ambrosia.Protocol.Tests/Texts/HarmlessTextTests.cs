using System.Globalization;
using System.Text.Json;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Protocol.Tests.Texts;

public sealed class HarmlessTextTests
{
    /// <summary>Every character that a terminal or a compiler obeys, or that cannot be seen, and each half of a pair.</summary>
    private static string Hostile { get; } = string.Concat(Enumerable.Range(0, 0x11_0000).Where(IsHostile)
        .Select(static code => code is >= 0xD800 and <= 0xDFFF ? $"{(char)code}." : char.ConvertFromUtf32(code)));

    [Fact]
    public void Line_OfEveryHostileCharacter_HasNone()
    {
        Assert.True(Hostile.Length > 4_000, "all halves of pairs and more");
        Assert.DoesNotContain(HarmlessText.Line(Hostile).EnumerateRunes(), static rune => IsHostile(rune.Value) || rune.Value == 0xFFFD);
        Assert.DoesNotContain(HarmlessText.Quoted(Hostile), static c => c is '\n' or '\t');
        Assert.All(HarmlessText.Comment("ü " + Hostile), static c => Assert.InRange(c, ' ', '~'));
        Assert.Equal(["a b", "c"], HarmlessText.Lines("a b\r\nc").Split('\n'));
        Assert.Equal("a  b", HarmlessText.Line("a\r\n\tb"));
    }

    [Theory]
    [InlineData("")]
    [InlineData("plain")]
    [InlineData("Zürich 東京 🙂 ½ \\u001b")]
    public void Line_OfHarmlessText_IsTheText(string text)
    {
        Assert.Equal(text, HarmlessText.Line(text));
        Assert.True(HarmlessText.IsHarmless(text));
    }

    [Fact]
    public void Line_OfHostileText_EscapesIt()
    {
        foreach ((string text, string expected) in ((string, string)[])
            [("a\u001b[31m", @"a\u001b[31m"), ("a\u2028b\u202e", @"a\u2028b\u202e"), ("a\ud83d b", @"a\ud83d b"),
            ("a\U000e0001b", @"a\udb40\udc01b")])
        {
            Assert.Equal(expected, HarmlessText.Line(text));
            Assert.Equal(expected, HarmlessText.Line(HarmlessText.Line(text)));
            Assert.False(HarmlessText.IsHarmless(text));
        }
    }

    [Fact]
    public void Quoted_OfJson_IsTheSameJson()
    {
        string text = string.Concat(Hostile.Where(static c => !char.IsSurrogate(c)));
        string json = JsonSerializer.Serialize(
            text, new JsonSerializerOptions { Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping });
        Assert.Equal(text, JsonSerializer.Deserialize<string>(HarmlessText.Quoted(json)));
    }

    [Fact]
    public void Comment_ThatEndsWithABackslash_DoesNotTakeTheNextLine() => Assert.Equal(@"C:\.", HarmlessText.Comment(@"C:\"));

    private static bool IsHostile(int code) => code is not ' ' && CharUnicodeInfo.GetUnicodeCategory(code) is
        UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator
        or UnicodeCategory.SpaceSeparator or UnicodeCategory.Surrogate;
}
