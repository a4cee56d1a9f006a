using System.Xml.Linq;

namespace Ambrosia.Tidy.Tests;

/// <summary>What a project file says about whom it knows. References that only run the compiler (generators) are not knowledge.</summary>
/// <param name="Path">Relative to the root.</param>
/// <param name="References">Names of the projects referred to.</param>
/// <param name="Packages">Names of the packages referred to.</param>
/// <param name="RootNamespace">The namespace of the sources directly in the project's folder.</param>
internal sealed record ProjectFile(string Path, IReadOnlyList<string> References, IReadOnlyList<string> Packages, string RootNamespace)
{
    public string Name => System.IO.Path.GetFileNameWithoutExtension(Path);

    /// <summary>Folder with a slash at its end.</summary>
    public string Folder => Path[..(Path.LastIndexOf('/') + 1)];

    public static ProjectFile Parse(string path, string xml)
    {
        XElement root = XElement.Parse(xml);
        return new ProjectFile(
            path,
            [.. root.Descendants("ProjectReference").Where(static reference => !IsCompilerOnly(reference)).Select(static reference =>
                System.IO.Path.GetFileNameWithoutExtension(((string?)reference.Attribute("Include") ?? "").Replace('\\', '/')))],
            [.. root.Descendants("PackageReference").Select(static reference => (string?)reference.Attribute("Include") ?? "")],
            (string?)root.Descendants("RootNamespace").FirstOrDefault() ?? System.IO.Path.GetFileNameWithoutExtension(path));
    }

    private static bool IsCompilerOnly(XElement reference) =>
        (string?)reference.Attribute("OutputItemType") == "Analyzer" && (string?)reference.Attribute("ReferenceOutputAssembly") == "false";
}
