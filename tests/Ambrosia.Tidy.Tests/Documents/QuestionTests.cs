using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// docs/questions.md quotes for each question the sentence that answers it. Each sentence stands, word for word, in the document and under
/// the number that its row names: an answer that was reworded away would leave whoever asks with nothing.
/// </summary>
public sealed partial class QuestionTests
{
    private const string DocumentPath = "docs/questions.md";

    /// <summary>One row: what is quoted, and where it is said to stand.</summary>
    private sealed record Answer(string Question, string Sentence, string File, string Number);

    [Fact]
    public void Answers_All_StandWhereTheirRowsSay()
    {
        string document = Repository.Read(DocumentPath);
        Answer[] answers = Answers(document);
        int rows = document.Split('\n').Count(static line => line.StartsWith("| ", StringComparison.Ordinal)) - 1; // without the head
        Assert.Equal(rows, answers.Length);
        Assert.True(answers.Length >= 40, $"{answers.Length} questions were found");
        Repository.AssertNone(FindMissing(answers, static file => Repository.Read(Path.Join("docs", file))));
    }

    [Fact]
    public void Planted_Differences_AreFound()
    {
        const string Document = "# A\n- **P1.1** One two.\n  - Three four.\n- **P1.2** Five six.\n## C3 Seven\nEight nine.\n- **C3.1** Ten.\n";
        static string Row(string sentence, string number) => $"| what? | “{sentence}” | [a](a.md) {number} |\n";
        static IEnumerable<Finding> Of(string rows) => FindMissing(Answers(rows), static _ => Document);

        Assert.Empty(Of(Row("One two.", "P1.1") + Row("Three four.", "P1.1") + Row("Five", "P1.2") + Row("Eight nine.", "C3")));
        Assert.Empty(Of("| what? | “Ten.” | [a](a.md) |\n"));
        Assert.Single(Of(Row("One  two.", "P1.1")));
        Assert.Single(Of(Row("Five six.", "P1.1")));
        Assert.Single(Of(Row("One two.", "P1.3")));
        Assert.Empty(Answers("| what? | One two. | [a](a.md) P1.1 |\n"));
    }

    private static Answer[] Answers(string document) =>
        [.. Row().Matches(document).Select(static row => new Answer(
            row.Groups["question"].Value, row.Groups["sentence"].Value, row.Groups["file"].Value, row.Groups["number"].Value))];

    private static IEnumerable<Finding> FindMissing(IEnumerable<Answer> answers, Func<string, string> read)
    {
        foreach (Answer answer in answers)
            if (!SentenceBlock(read(answer.File), answer.Number).Contains(answer.Sentence, StringComparison.Ordinal))
                yield return new Finding(DocumentPath, $"\"{answer.Question}\": {answer.File} {answer.Number} does not say “{answer.Sentence}”");
    }

    /// <summary>
    /// What stands under a number: from its sentence, or its heading, to the next numbered sentence or heading; without a number the whole.
    /// </summary>
    private static string SentenceBlock(string document, string number)
    {
        if (number.Length == 0) return document;
        Match begin = Regex.Match(document, $@"^(- \*\*{Regex.Escape(number)}\*\*|## {Regex.Escape(number)} )", RegexOptions.Multiline);
        if (!begin.Success) return "";
        Match end = NextSentence().Match(document, begin.Index + begin.Length);
        return document[begin.Index..(end.Success ? end.Index : document.Length)];
    }

    [GeneratedRegex(@"^\| (?<question>[^|]+) \| “(?<sentence>[^|]+)” \| \[[^\]]+\]\((?<file>[^)]+)\)( (?<number>[A-Z]\d+(\.\d+)?))? \|$",
        RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex(@"^(- \*\*[A-Z]\d+\.\d+|## )", RegexOptions.Multiline)]
    private static partial Regex NextSentence();
}
