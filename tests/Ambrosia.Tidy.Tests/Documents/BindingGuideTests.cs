using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// Whoever writes a binding has the documents and the vectors, and needs no source of another one. So the guide names no file of a binding.
/// </summary>
public sealed partial class BindingGuideTests
{
    [Theory]
    [InlineData("docs/bindings.md")]
    [InlineData("docs/flows.md")]
    public void Guide_ForBindings_NamesNoFileOfOne(string path) => Repository.AssertNone(FindFiles(path, Repository.Read(path)));

    [Theory]
    [InlineData("see `bindings/csharp/Ambrosia/Session/Session.cs`")]
    [InlineData("as `Session.cs` does")]
    [InlineData("look at [it](../bindings/cpp/README.md)")]
    [InlineData("`include/ambrosia/flow.h` has it")]
    public void Guide_PlantedFile_IsFound(string text) => Assert.NotEmpty(FindFiles("docs/a.md", text));

    private static IEnumerable<Finding> FindFiles(string path, string text) =>
        FileOfABinding().Matches(text).Select(found => new Finding(path, $"names {found.Value}"));

    [GeneratedRegex(@"\bbindings/[a-z]\S*|[\w/]+\.(cs|cpp|h|hpp|ts|py)\b(?<!protocol/models/\w+\.py)")]
    private static partial Regex FileOfABinding();
}
