namespace Ambrosia.Tidy.Tests;

/// <summary>
/// The working tree that these tests were built from: every file in it except what tools leave behind. Paths are relative to the root, with
/// forward slashes, in ordinal order. It is read once; tests only look.
/// </summary>
internal static class Repository
{
    /// <summary>What .gitignore keeps out (folders by name, or by path from the root), and git's own.</summary>
    private static readonly Lazy<HashSet<string>> s_left = new(static () =>
        [".git",
            .. File.ReadLines(Path.Join(Root, ".gitignore")).Where(static line => line.EndsWith('/'))
                .Select(static line => line.TrimEnd('/'))]);

    private static readonly HashSet<string> s_binary = [".png", ".ico", ".snk", ".zip", ".bin", ".gz", ".ckpt", ".log"];

    public static string Root { get; } = FindRoot();

    public static IReadOnlyList<string> Files { get; } = [.. Walk(Root).Order(StringComparer.Ordinal)];

    /// <summary>Our C# sources, parsed.</summary>
    public static IReadOnlyList<SourceFile> Sources { get; } =
        [.. Files.Where(static path => path.EndsWith(".cs", StringComparison.Ordinal))
            .Select(static path => new SourceFile(path, Read(path)))];

    /// <summary>Our projects. Those of templates are users', who state versions in them; the suite of the feed builds them.</summary>
    public static IReadOnlyList<ProjectFile> Projects { get; } =
        [.. Files.Where(static path => path.EndsWith(".csproj", StringComparison.Ordinal)
                && !path.StartsWith(SourceFile.Templates, StringComparison.Ordinal))
            .Select(static path => ProjectFile.Parse(path, Read(path)))];

    public static IEnumerable<string> TextFiles => Files.Where(static path => !s_binary.Contains(Path.GetExtension(path)));

    public static string Read(string path) => File.ReadAllText(Path.Join(Root, path));

    public static bool Has(string path) => File.Exists(Path.Join(Root, path)) || Directory.Exists(Path.Join(Root, path));

    /// <summary>Our sources of the product that people write.</summary>
    public static IEnumerable<SourceFile> Product => Sources.Where(static source => source.IsProduct && !source.IsGenerated);

    /// <summary>The project that a path belongs to by its folder; null when it belongs to none.</summary>
    public static ProjectFile? ProjectOf(string path) =>
        Projects.Where(project => path.StartsWith(project.Folder, StringComparison.Ordinal)).MaxBy(static project => project.Folder.Length);

    /// <summary>The name of the project that a path belongs to, or the path's first folder.</summary>
    public static string OwnerOf(string path) => ProjectOf(path)?.Name ?? path.Split('/')[0];

    /// <summary>Fails with one finding a line.</summary>
    public static void AssertNone(IEnumerable<string> findings)
    {
        List<string> all = [.. findings];
        Assert.True(all.Count == 0, $"{all.Count} to mend:{Environment.NewLine}{string.Join(Environment.NewLine, all)}");
    }

    /// <summary>Fails with one finding a line.</summary>
    public static void AssertNone(IEnumerable<Finding> findings) => AssertNone(findings.Select(static found => found.ToString()));

    /// <summary>Fails with one finding a line, and with each excuse that none of them needs any more.</summary>
    /// <param name="excused">Path → the reason.</param>
    public static void AssertNone(IEnumerable<Finding> findings, IReadOnlyDictionary<string, string> excused)
    {
        List<Finding> all = [.. findings];
        AssertNone(all.Where(found => !excused.ContainsKey(found.Path)).Select(static found => found.ToString())
            .Concat(excused.Keys.Except(all.Select(static found => found.Path)).Select(static path => $"{path}: needs no excuse any more")));
    }

    private static string FindRoot()
    {
        for (DirectoryInfo? at = new(AppContext.BaseDirectory); at is not null; at = at.Parent)
        {
            if (File.Exists(Path.Join(at.FullName, "global.json")) && Directory.Exists(Path.Join(at.FullName, "protocol")))
                return at.FullName;
        }

        throw new InvalidOperationException($"no repository above {AppContext.BaseDirectory}");
    }

    private static IEnumerable<string> Walk(string directory)
    {
        foreach (string path in Directory.EnumerateFiles(directory))
        {
            if (!IsLeft(path)) yield return Relative(path); // .git is a file in a linked work tree
        }

        foreach (string inner in Directory.EnumerateDirectories(directory))
        {
            if (IsLeft(inner)) continue;
            foreach (string path in Walk(inner)) yield return path;
        }
    }

    private static bool IsLeft(string path) => s_left.Value.Contains(Path.GetFileName(path)) || s_left.Value.Contains($"/{Relative(path)}");

    private static string Relative(string path) => Path.GetRelativePath(Root, path).Replace('\\', '/');
}
