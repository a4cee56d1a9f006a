using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Words;

/// <summary>
/// Judges whether a text is a sentence: whether it has a verb that does not merely belong to a clause ("the page that was written",
/// "what a peer says"). It knows words, not grammar: what it finds is nearly always a fragment, and some fragments pass.
/// </summary>
internal static partial class Sentence
{
    /// <summary>What stands for a quotation of code in a text.</summary>
    public const string Code = "`";

    private static readonly HashSet<string> s_opensClause = Split("""
        which who whose whom what where when whenever how why whether if because unless although though whatever whoever wherever 
        whichever once
        """);

    /// <summary>They open a clause only where a subject follows; elsewhere they are prepositions.</summary>
    private static readonly HashSet<string> s_mayOpenClause = Split("as before after until since while");

    private static readonly HashSet<string> s_subjects = Split("""
        it they we he she you i one nobody somebody everybody anybody nothing something everything anything there each all both others who
        which that
        """);

    private static readonly HashSet<string> s_determiners = Split($"""
        the a an its their his our your my it them him us me itself themselves this these those each every all both no nothing none one two
        three what whether how whatever whoever who another any some something everything nobody somebody only never always also not at most
        {Code}
        """);

    private static readonly HashSet<string> s_prepositions =
        Split("of for in to from at on with by like than behind about over under into per");

    private static readonly HashSet<string> s_adverbs =
        Split("never always only also then still not again once thus therefore else now ever just itself");

    /// <summary>Behind them, a word that might be a plural belongs to them.</summary>
    private static readonly HashSet<string> s_articles = Split("the a an each every one its this that no");

    /// <summary>Words after which a noun at the beginning of a sentence goes on.</summary>
    private static readonly HashSet<string> s_goesOn = Split("of that which who whose in with for from by and on");

    /// <summary>Forms that are participles as often as they are finite.</summary>
    private static readonly HashSet<string> s_sameAsParticiple = Split("read put set cut let hit split shut cast come run become lost");

    public static bool HasVerb(string text)
    {
        string[] words = [.. Word().Matches(InBrackets().Replace(text, " ")).Select(static word => word.Value)];
        int clauses = 0;
        for (int i = 0; i < words.Length; i++)
        {
            string word = words[i].ToLowerInvariant(), before = i > 0 ? words[i - 1].ToLowerInvariant() : "",
                after = i + 1 < words.Length ? words[i + 1].ToLowerInvariant() : "";
            if (word is ";" or ":" or ".") clauses = 0;
            else if (OpensClause(words, i, word, before)) clauses++;
            else if (!IsVerb(word, before, after, i == 0) && !EndsNoun(words, i, word, before, after)) continue;
            else if (clauses == 0) return true;
            else clauses--;
        }

        return false;
    }

    private static bool OpensClause(string[] words, int at, string word, string before)
    {
        if (word == "that") return at > 0 && !s_prepositions.Contains(before);
        if (s_opensClause.Contains(word)) return true;
        if (!s_mayOpenClause.Contains(word)) return false;
        string[] next = [.. words.Skip(at + 1).TakeWhile(static each => each.Length > 1 || char.IsLetter(each[0])).Take(6)
            .Select(static each => each.ToLowerInvariant())];
        return next.Length > 0 && (s_subjects.Contains(next[0]) || next.Skip(1).Any(Verbs.IsFinite));
    }

    private static bool IsVerb(string word, string before, string after, bool isFirst)
    {
        if (Verbs.IsFinite(word)) return true;
        if (Verbs.MayBeFinite(word))
        {
            return (isFirst && !s_goesOn.Contains(after)) || s_determiners.Contains(after)
                || s_subjects.Contains(before) || s_adverbs.Contains(before) || before == Code;
        }

        if (Verbs.IsPlain(word))
        {
            return isFirst || (s_subjects.Contains(before) && before is not ("it" or "he" or "one"))
                || (IsPlural(before) && !s_sameAsParticiple.Contains(word));
        }

        return word.EndsWith("ed", StringComparison.Ordinal) && s_subjects.Contains(before);
    }

    /// <summary>"The compiler hands over", "the pump ends": an article, one noun, and what may be a verb, not followed by "of".</summary>
    private static bool EndsNoun(string[] words, int at, string word, string before, string after) =>
        at >= 2 && Verbs.MayBeFinite(word) && s_articles.Contains(words[at - 2].ToLowerInvariant()) && !IsPlural(before)
        && after is not ("of" or "that" or "and");

    private static bool IsPlural(string word) =>
        word.Length > 3 && word[^1] == 's' && word[^2] is not ('\'' or '’' or 's');

    private static HashSet<string> Split(string words) => [.. words.Split([' ', '\n'], StringSplitOptions.RemoveEmptyEntries)];

    [GeneratedRegex(@"\([^()]*\)")]
    private static partial Regex InBrackets();

    [GeneratedRegex(@"[\p{L}][\p{L}'’-]*|[`;:,.]")]
    private static partial Regex Word();
}
