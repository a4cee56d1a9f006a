using System.Text;
using Ambrosia.Protocol.Payloads;
using Xunit;

namespace Ambrosia.Protocol.Tests.Payloads;

/// <summary>No two texts become one identity.</summary>
public sealed class Utf8TextTests
{
    private static readonly string[] s_whole = ["", "a", "\u00e9", "\u20ac", "\ud83d\ude00", "\ufffd", "a\ud83d\ude00b"];

    private static readonly string[] s_halves = ["\ud83d", "\ud83e", "\udc00", "a\ud83d", "\ud83db", "\udc00\ud83d", "\ud83d\ud83d\ude00"];

    [Fact]
    public void Whole_IsTheUtf8OfTheText()
    {
        foreach (string text in s_whole)
        {
            Assert.Equal(Encoding.UTF8.GetBytes(text), Utf8Text.Identity(text));
            Assert.Equal(Encoding.UTF8.GetBytes(text), Utf8Text.Exact(text));
            Assert.True(Utf8Text.IsIdentity(text));
        }
    }

    [Fact]
    public void Half_IsNoIdentityAndHasBytesOfItsOwn()
    {
        foreach (string text in s_halves)
        {
            Assert.False(Utf8Text.IsIdentity(text));
            Assert.Throws<ArgumentException>(() => Utf8Text.Identity(text));
        }
        string[] all = [.. s_whole, .. s_halves];
        Assert.Equal(all.Length, all.Select(static text => Convert.ToHexString(Utf8Text.Exact(text))).Distinct().Count());
    }
}
