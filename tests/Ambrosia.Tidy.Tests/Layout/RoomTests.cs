namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>No room that fills with everything: neither a folder nor a file (nor the type in it) is called so.</summary>
public sealed class RoomTests
{
    private static readonly string[] s_forbidden = ["Common", "Util", "Utils", "Utilities", "Helper", "Helpers", "Shared", "Misc",
        "Manager", "Managers"];

    [Fact]
    public void Names_Repository_HasNoSuchRoom() => Repository.AssertNone(Repository.Files.SelectMany(Find));

    [Theory]
    [InlineData("CRA/Utils/A.cs")]
    [InlineData("CRA/StringHelpers.cs")]
    [InlineData("CRA/LogManager.cs")]
    [InlineData("samples/common/A.cs")]
    public void Names_Planted_AreFound(string path) => Assert.Single(Find(path));

    [Theory]
    [InlineData("CRA/Commonwealth.cs")]
    [InlineData("CRA/SharedSecret.cs")]
    [InlineData("docs/common.md")]
    public void Names_ThatOnlyBeginSo_AreNot(string path) => Assert.Empty(Find(path));

    private static IEnumerable<string> Find(string path)
    {
        string[] parts = path.Split('/');
        for (int i = 0; i < parts.Length; i++)
        {
            bool isFile = i == parts.Length - 1;
            if (isFile && Path.GetExtension(path) is not (".cs" or ".csproj" or ".ts" or ".cpp" or ".h" or ".hpp")) continue;
            string name = isFile ? Path.GetFileNameWithoutExtension(parts[i]) : parts[i];
            if (s_forbidden.Any(
                word => name.Equals(word, StringComparison.OrdinalIgnoreCase) || (isFile && name.EndsWith(word, StringComparison.Ordinal))))
                yield return $"{path}: {name} is a room that fills with everything";
        }
    }
}
