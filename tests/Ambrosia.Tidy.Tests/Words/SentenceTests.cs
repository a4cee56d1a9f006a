using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Words;

/// <summary>
/// Each summary of the product is written in sentences that can be understood without the code below: it begins with a capital letter or
/// with code, ends with a full stop and has a verb of its own. What a member is may be said by a noun with its article ("The page that is
/// open.") or by the condition that it states ("True when none is open."); a type needs a sentence more, which says what it owns or does.
/// </summary>
public sealed partial class SentenceTests
{
    private const int WordsMin = 3;

    /// <summary>"path: text" → why it is a sentence nevertheless. Short; an entry that is no longer needed must go.</summary>
    private static readonly Dictionary<string, string> s_excused = new()
    {
    };

    [Fact]
    public void Summaries_OfTheProduct_AreSentences() => Repository.AssertNone(
        Repository.Product.SelectMany(FindFragments).Where(static found => !s_excused.ContainsKey(found.Key))
            .Select(static found => found.What));

    [Fact]
    public void Excuses_AllOfThem_AreStillNeeded() => Repository.AssertNone(
        s_excused.Keys.Except(Repository.Product.SelectMany(FindFragments).Select(static found => found.Key))
            .Select(static key => $"{key}: needs no excuse any more"));

    [Theory]
    [InlineData("")]
    [InlineData("holds what is sent.")]
    [InlineData("It holds what is sent")]
    [InlineData("It ends.")]
    [InlineData("Of a primary.")]
    [InlineData("For all of it.")]
    [InlineData("Without a log.")]
    [InlineData("The page that is written.")]
    [InlineData("A page of a log.")]
    [InlineData("Of a primary. It holds a log.")]
    [InlineData("What a peer says.")]
    [InlineData("How far it has come.")]
    [InlineData("Records that had no effect.")]
    [InlineData("The header as it was read.")]
    [InlineData("Bytes of the other side still missing.")]
    [InlineData("Flags of a page (it has eight).")]
    [InlineData("Calls of <c>Open</c> so far.")]
    [InlineData("The log records of a page.")]
    public void Summary_PlantedFragment_IsFound(string text) => Assert.Single(FindFragments(Planted(text)));

    [Theory]
    [InlineData("It holds what is sent.")]
    [InlineData("<see cref=\"A\"/> holds what is sent.")]
    [InlineData("Reads the header of a page.")]
    [InlineData("Records wait here until they are sent.")]
    [InlineData("What it says is kept.")]
    [InlineData("That the log ends is no error.")]
    [InlineData("When the app dies, the pump ends.")]
    [InlineData("It is one of these:<list type=\"bullet\"><item>A page.</item></list>")]
    [InlineData("The pump that reads waits for <c>x</c> (P5.3).")]
    [InlineData("Another timer is due first.")]
    [InlineData("Looks for such a place.")]
    [InlineData("States that a checkpoint is late.")]
    [InlineData("The compiler hands over what was thrown.")]
    [InlineData("The pump ends.")]
    [InlineData("A page of a log. It holds records.")]
    public void Summary_ThatIsASentence_IsNot(string text) => Assert.Empty(FindFragments(Planted(text)));

    [Fact]
    public void Summary_OfAMember_MayNameIt()
    {
        Assert.Empty(FindFragments(PlantedMembers("The page that is open.")));
        Assert.Empty(FindFragments(PlantedMembers("True when no page is open.")));
        Assert.Equal(3, FindFragments(PlantedMembers("Of a page that is open.")).Count());
    }

    private static IEnumerable<(string Key, Finding What)> FindFragments(SourceFile source) =>
        from summary in Summary.In(source.Syntax)
        let wrong = WrongWith(summary)
        where wrong is not null
        select ($"{source}: {summary.Text}", new Finding($"{source}:{summary.Line}", $"{wrong}: \"{summary.Text}\""));

    private static string? WrongWith(Summary summary)
    {
        string text = summary.Text;
        if (text.Length == 0) return "says nothing";
        if (char.IsLower(text[0])) return "begins with a small letter";
        if (!(text[^1] == '.' || text.EndsWith(".)", StringComparison.Ordinal) || (summary.EndsInList && text[^1] == ':')))
            return "does not end";
        if (Word().Count(text) < WordsMin) return $"has less than {WordsMin} words";
        string[] sentences = [.. End().Split(text)];
        if (!Sentence.HasVerb(sentences[0]) && !Article().IsMatch(text) && !Condition().IsMatch(text)) return "begins with a fragment";
        return !summary.IsOfType || sentences.Any(Sentence.HasVerb) ? null : "says of a type what it is, not what it owns or does";
    }

    private static SourceFile Planted(string summary) => new("CRA/Planted.cs", $"/// <summary>{summary}</summary>\nclass Planted;\n");

    private static SourceFile PlantedMembers(string summary) => new("CRA/Planted.cs", $$"""
        class Planted
        {
            /// <summary>{{summary}}</summary>
            int b;
            /// <summary>{{summary}}</summary>
            [X] void M() { }
            enum E
            {
                /// <summary>{{summary}}</summary>
                One,
            }
        }
        """);

    [GeneratedRegex(@"[\p{L}\p{N}`]+")]
    private static partial Regex Word();

    [GeneratedRegex(@"(?<=[.:])\s+(?=[\p{Lu}`])")]
    private static partial Regex End();

    [GeneratedRegex(@"^(?:True|False|Null|Empty|0),? (?:when|if|while|until|once|unless) ")]
    private static partial Regex Condition();

    [GeneratedRegex(@"^(?:The|A|An|One|Each|Every|All|No|Another) ")]
    private static partial Regex Article();
}
