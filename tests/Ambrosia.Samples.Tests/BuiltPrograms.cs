namespace Ambrosia.Samples.Tests;

/// <summary>Finds what this build has put into the outputs of other projects.</summary>
internal static class BuiltPrograms
{
    /// <summary>
    /// Not referred to, only built: its assembly's name differs from the binding's by a capital letter, so they cannot lie in one folder.
    /// </summary>
    public static string Tool => Beside("tools/ambrosia", "ambrosia");

    public static string Beside(string project, string file)
    {
        string output = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory), framework = Path.GetFileName(output),
            configuration = Path.GetFileName(Path.GetDirectoryName(output)!);
        return Path.Combine(Source(project), "bin", configuration, framework, file);
    }

    /// <summary>Returns the path of a file or folder of the repository.</summary>
    public static string Source(string path)
    {
        string root = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(root, "Ambrosia.sln")))
            root = Path.GetDirectoryName(root) ?? throw new DirectoryNotFoundException("the repository");
        return Path.Combine(root, path);
    }
}
