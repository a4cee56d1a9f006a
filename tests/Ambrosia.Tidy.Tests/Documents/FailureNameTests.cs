using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// The table of protocol P4.6 lists every failure that a binding or a coordinator reports by itself: those that the C# implementation has,
/// and each one that another binding, or the reference app of the conformance kit, makes in its sources.
/// </summary>
public sealed partial class FailureNameTests
{
    private const string DocumentPath = "docs/protocol.md", NamesPath = "protocol/Ambrosia.Protocol/Runs/FailureNames.cs";

    [Fact]
    public void Table_OfTheProtocol_HasTheNamesOfCSharp() =>
        Assert.Equal(NamesIn(Repository.Read(NamesPath)), Listed(Repository.Read(DocumentPath)).Order(StringComparer.Ordinal));

    [Fact]
    public void Names_OfOtherBindings_AreInTheTable() =>
        Repository.AssertNone(FindUnlisted(Listed(Repository.Read(DocumentPath)),
            Repository.TextFiles.Where(IsOfABinding).Select(static path => (path, Repository.Read(path)))));

    [Fact]
    public void Planted_NameThatIsNotListed_IsFound()
    {
        HashSet<string> listed = Listed("| `Ambrosia.Timeout` | `The result did not come in time.` | a deadline |\n");
        Assert.Equal(["x/a.h: Ambrosia.Made is not in protocol P4.6"],
            FindUnlisted(listed, [("x/a.h", "{\"Ambrosia.Made\", \"Ambrosia.Timeout\"}")]).Select(static found => found.ToString()));
    }

    /// <summary>What a caller outside is told by its own library about its connection never travels.</summary>
    private static bool IsOfABinding(string path) =>
        (path.StartsWith("bindings/cpp/include/", StringComparison.Ordinal) || path.StartsWith("bindings/cpp/src/", StringComparison.Ordinal)
            || path.StartsWith("protocol/conformance/reference/", StringComparison.Ordinal))
        && path != "bindings/cpp/src/client.cpp" && Path.GetExtension(path) is ".h" or ".cpp" or ".py";

    private static IEnumerable<Finding> FindUnlisted(HashSet<string> listed, IEnumerable<(string Path, string Text)> sources) =>
        from source in sources
        from name in NamesIn(source.Text)
        where !listed.Contains(name)
        select new Finding(source.Path, $"{name} is not in protocol P4.6");

    private static HashSet<string> Listed(string document) => [.. Row().Matches(document).Select(static row => row.Groups[1].Value)];

    private static IEnumerable<string> NamesIn(string text) =>
        Name().Matches(text).Select(static name => name.Groups[1].Value).Distinct().Order(StringComparer.Ordinal);

    [GeneratedRegex(@"^\| `(Ambrosia\.\w+)` \|", RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex("\"(Ambrosia\\.[A-Z]\\w+)\"")]
    private static partial Regex Name();
}
