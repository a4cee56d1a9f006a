using System.Text;
using Ambrosia.Inspection.Decoding;

namespace Ambrosia.Tools.Tests;

/// <summary>The notation agrees with the whole table of RFC 8949 appendix A.</summary>
public sealed class DiagnosticNotationTests
{
    public static TheoryData<string, string> AppendixA()
    {
        var rows = new TheoryData<string, string>();
        foreach (string line in File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "AppendixA.txt")))
        {
            int tab = line.IndexOf('\t');
            rows.Add(line[..tab], line[(tab + 1)..]);
        }
        return rows;
    }

    [Theory]
    [MemberData(nameof(AppendixA))]
    public void Item_OfAppendixA_IsWrittenAsThere(string hex, string notation) =>
        Assert.Equal(notation, CborDiagnostic.OfSequence(Convert.FromHexString(hex)));

    [Fact]
    public void AppendixA_Table_IsWhole() => Assert.Equal(81, AppendixA().Count);

    [Fact]
    public void Sequence_SeveralItems_HasCommas() =>
        Assert.Equal("1, \"a\", [2]", CborDiagnostic.OfSequence(Convert.FromHexString("0161618102")));

    [Fact]
    public void Sequence_Empty_IsNothing() => Assert.Equal("", CborDiagnostic.OfSequence([]));

    [Theory]
    [InlineData("\u001b[31mred", "\"\\u001b[31mred\"")]
    [InlineData("a\nb\u0085\u2028\u202e", "\"a\\u000ab\\u0085\\u2028\\u202e\"")]
    [InlineData("say \"\\\"", "\"say \\\"\\\\\\\"\"")]
    public void Text_ThatATerminalWouldObey_IsEscaped(string text, string notation)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        Assert.Equal(notation, CborDiagnostic.OfSequence([(byte)(0x60 + utf8.Length), .. utf8]));
    }

    [Fact]
    public void Strings_BeyondTheLimit_AreCutWithTheirLength()
    {
        Assert.Equal("h'0102…'(4 bytes)", CborDiagnostic.OfSequence(Convert.FromHexString("4401020304"), 2));
        Assert.Equal("\"a…\"(3 bytes)", CborDiagnostic.OfSequence([0x63, .. "aü"u8], 2)); // not inside a character
    }

    [Theory]
    [InlineData("")]
    [InlineData("ff")]
    [InlineData("1c")]
    [InlineData("62")]
    [InlineData("8201")]
    [InlineData("5f01ff")]
    [InlineData("61ff")]
    public void Item_Malformed_IsSaidWithItsBytes(string hex)
    {
        string notation = CborDiagnostic.OfSequence(Convert.FromHexString("01" + hex));
        Assert.Equal(hex.Length > 0, notation.StartsWith($"malformed(h'01{hex}')", StringComparison.Ordinal));
    }

    [Fact]
    public void Item_NestedBeyondMeasure_IsMalformedAndNoStackOverflow() =>
        Assert.StartsWith("malformed(", CborDiagnostic.OfSequence(Enumerable.Repeat((byte)0x81, 100_000).ToArray()));

    /// <summary>This is a negative control: the table does tell one notation from another.</summary>
    [Fact]
    public void Item_OfAppendixA_WithAFlippedBit_DoesNotAgree() =>
        Assert.DoesNotContain(AppendixA(), static row => CborDiagnostic.OfSequence(Flipped((string)row[0])) == (string)row[1]);

    private static byte[] Flipped(string hex)
    {
        byte[] bytes = Convert.FromHexString(hex);
        bytes[0] ^= 1;
        return bytes;
    }
}
