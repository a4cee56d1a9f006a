using System.Globalization;
using Ambrosia.Failures;
using Ambrosia.TestKit;

namespace Ambrosia.Binding.Tests;

/// <summary>Two runtimes that word all their texts otherwise make the same failures of them, since each knows its own words.</summary>
public sealed class FrameworkWordsTests
{
    private const string Home = "System.Private.CoreLib";

    private static readonly FrameworkText[] s_texts = [.. FrameworkTexts.All()];

    private static readonly object[] s_values = ["bob", "it's {0} o'clock", "", 5, "two\nlines", "x", "x", "x", "x", "x", "x", "x"];

    [Fact]
    public void Texts_OfARewordedRuntime_MakeTheSameFailures()
    {
        FailureWording before = new(new FrameworkWords(s_texts, hasKeysForTexts: false));
        FailureWording after = new(new FrameworkWords(s_texts.Select(Reworded), hasKeysForTexts: false));
        int known = 0, mistaken = 0;
        foreach (FrameworkText text in s_texts)
        {
            if (Filled(text.Text) is not { } old || Filled(Reworded(text).Text) is not { } now) continue;
            var (first, second) = (before.Of(new InvalidOperationException(old)), after.Of(new InvalidOperationException(now)));
            if (first.Message == old) continue; // a text of too few words
            known++;
            Assert.Equal(first, second);
            if (before.Of(new InvalidOperationException(now)).Message != now) mistaken++;
        }
        Assert.True(known > 6000, $"{known} of {s_texts.Length} texts are known");
        Assert.InRange(mistaken, 0, known / 1000); // the negative control: a runtime does not know another one's words
    }

    /// <summary>An app in one file has no list of its assemblies.</summary>
    [Fact]
    public void Texts_OfAnAppInOneFile_AreThoseOfItsReferences()
    {
        HashSet<FrameworkText> found = [.. FrameworkTexts.OfReferences(typeof(FrameworkWordsTests).Assembly)];
        Assert.Contains(found, static text => (text.Assembly, text.Key) == (Home, "Arg_KeyNotFoundWithKey"));
        Assert.Contains(found, static text => (text.Assembly, text.Key) == ("System.Linq", "NoElements"));
        Assert.Subset(s_texts.ToHashSet(), found);
    }

    [Theory]
    [InlineData("Arg_KeyNotFoundWithKey, bob", true)]
    [InlineData("NoElements", true)]
    [InlineData("Argument_CultureNotSupported\nArgument_CultureInvalidIdentifier, xx", true)]
    [InlineData("out_of_stock", false)]
    [InlineData("not enough, bob", false)]
    public void Keys_InPlaceOfTexts_AreKnown(string text, bool isFrameworks) =>
        Assert.Equal(isFrameworks, new FrameworkWords(s_texts, hasKeysForTexts: true).Has(text, Home));

    /// <summary>A framework that was trimmed of its texts has no list of keys; what has their form is taken for one.</summary>
    [Theory]
    [InlineData("Arg_KeyNotFoundWithKey, bob", true)]
    [InlineData("not enough, bob", false)]
    [InlineData("not_enough money", false)]
    public void Keys_OfATrimmedFramework_AreKnownByTheirForm(string text, bool isFrameworks)
    {
        FrameworkText learned = new(Home, "", "Unable to cast '{0}'.");
        Assert.Equal(isFrameworks, new FrameworkWords([learned], hasKeysForTexts: true).Has(text, Home));
        Assert.False(new FrameworkWords([], hasKeysForTexts: false).Has(text, Home));
    }

    /// <summary>A template of few words is none for the exceptions of all other assemblies.</summary>
    [Fact]
    public void Template_OfFewWords_CountsAtHomeAlone()
    {
        var words = new FrameworkWords(
            [new(Home, "a", "{0} was lost."), new(Home, "b", "{0}: {1}"), new(Home, "c", "Overflow.")], hasKeysForTexts: false);
        Assert.True(words.Has("bob was lost.", Home));
        Assert.False(words.Has("bob was lost.", "System.Text.Json"));
        Assert.False(words.Has("bob: no", Home));
        Assert.False(words.Has("Overflow.", "System.Text.Json"));
    }

    [Theory]
    [InlineData("a{0}b", "a and b", true)]
    [InlineData("a{0}b", "ab", true)]
    [InlineData("a{0}b", "a", false)]
    [InlineData("a{0}a", "a", false)]
    [InlineData("{0,-5:x}b{1}c", "bbc", true)]
    [InlineData("x{0}yy{1}yz", "xyyz", false)]
    [InlineData("{{{0}}}", "{5}", true)]
    [InlineData("{0", "{0", true)]
    [InlineData("{0xd, etc}", "5", false)]
    [InlineData("", "", true)]
    public void Template_OfAFormat_FitsWhatItMakes(string format, string text, bool fits) =>
        Assert.Equal(fits, TextTemplate.Parse(format).Fits(text));

    [Fact]
    public void Template_OfAnyFormat_FitsAllThatItMakes()
    {
        int seed = Environment.TickCount;
        var random = new Random(seed);
        string[] parts = ["{0}", "{1:x}", "{2,4}", "a", "b", "ab", " ", "{{", "}}", "{3}"];
        for (int round = 0; round < TestScale.Rounds(100_000); round++)
        {
            string format = string.Concat(random.GetItems(parts, random.Next(8)));
            object[] values = [.. Enumerable.Range(0, 4).Select(_ => (object)string.Concat(random.GetItems(parts, random.Next(3))))];
            string made = string.Format(CultureInfo.InvariantCulture, format, values);
            Assert.True(TextTemplate.Parse(format).Fits(made), $"seed {seed}: '{format}' made '{made}'");
        }
    }

    private static FrameworkText Reworded(FrameworkText text) => text with { Text = "ANDERS: " + text.Text + " (umgestellt)" };

    private static string? Filled(string format)
    {
        try
        {
            return TextTemplate.Parse(format).HasHoles ? string.Format(CultureInfo.InvariantCulture, format, s_values) : format;
        }
        catch (FormatException)
        {
            return null;
        }
    }
}
